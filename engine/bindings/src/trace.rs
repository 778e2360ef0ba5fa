//! Recorded traces as Python holds them, and their readers.

use std::sync::{Arc, Mutex, PoisonError};

use destage_core::trace::order::{Late, Ordering};
use destage_core::trace::profile::Profile;
use destage_core::trace::{self, Collection, Columns, Options, Record, TraceError, format};
use destage_core::units::SimDuration;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

pyo3::create_exception!(
    _engine,
    EngineTraceError,
    PyValueError,
    "A trace cannot be read; the message names line, column, value and what is allowed."
);

fn trace_error(error: TraceError) -> PyErr {
    EngineTraceError::new_err(error.to_string())
}

/// A recorded sequence of block requests.
#[pyclass(frozen, module = "destage.engine._engine")]
pub struct Trace {
    inner: Arc<trace::Trace>,
}

impl Trace {
    /// Hands a trace to Python.
    pub fn from_inner(inner: trace::Trace) -> Self {
        Self { inner: Arc::new(inner) }
    }

    /// The trace itself.
    pub fn inner(&self) -> Arc<trace::Trace> {
        Arc::clone(&self.inner)
    }
}

#[pymethods]
impl Trace {
    /// Makes a trace from little-endian columns of u64, u32, u64, u32, u8 and u8; from u32 of volumes where there are
    /// several; and from u64 of response times with a byte for each that says whether it is known.
    #[staticmethod]
    #[pyo3(signature = (t_ns, process, lba_512, n_512, op, flags, volume = None, response_ns = None))]
    #[expect(clippy::too_many_arguments, reason = "one for each column")]
    fn from_columns(
        t_ns: &[u8],
        process: &[u8],
        lba_512: &[u8],
        n_512: &[u8],
        op: &[u8],
        flags: &[u8],
        volume: Option<&[u8]>,
        response_ns: Option<(Vec<u8>, Vec<u8>)>,
    ) -> PyResult<Self> {
        let columns = columns_from((t_ns, process, lba_512, n_512, op, flags), volume, response_ns);
        let trace = trace::Trace::from_columns(columns).map_err(trace_error)?;
        Ok(Self { inner: Arc::new(trace) })
    }

    /// The columns, as `from_columns` takes them; `volume` and `response_ns` only where the trace has them.
    fn columns<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let columns = self.inner.columns();
        let dict = PyDict::new(py);
        for (name, bytes) in [
            ("t_ns", bytes_of(&columns.time_ns)),
            ("process", half_bytes_of(&columns.process)),
            ("lba_512", bytes_of(&self.inner.recorded_addresses())),
            ("n_512", half_bytes_of(&columns.sectors)),
            ("op", columns.op.clone()),
            ("flags", columns.flags.clone()),
        ] {
            dict.set_item(name, PyBytes::new(py, &bytes))?;
        }
        if !columns.volume.is_empty() {
            dict.set_item("volume", PyBytes::new(py, &half_bytes_of(&columns.volume)))?;
        }
        if !columns.response.is_empty() {
            dict.set_item("response_ns", response_bytes(py, columns.response.iter().copied()))?;
        }
        Ok(dict)
    }

    /// The volumes by number, where there are several: number, first sector in the trace, sectors.
    fn volumes(&self) -> Vec<(u32, u64, u64)> {
        self.inner.volumes().iter().map(|volume| (volume.number, volume.base.0, volume.length.0)).collect()
    }

    fn __len__(&self) -> usize {
        self.inner.len()
    }
}

/// Reads a trace of one format that is given in pieces.
#[pyclass(frozen, module = "destage.engine._engine")]
pub struct TraceReader {
    inner: Mutex<Reading>,
}

struct Reading {
    reader: trace::Reader,
    collection: Option<Collection>,
    ordering: Ordering,
    ordered: Vec<Record>,
}

impl TraceReader {
    fn with<T: Send>(
        &self,
        py: Python<'_>,
        run: impl FnOnce(&mut Reading) -> Result<T, TraceError> + Send,
    ) -> PyResult<T> {
        py.detach(|| run(&mut self.inner.lock().unwrap_or_else(PoisonError::into_inner))).map_err(trace_error)
    }
}

#[pymethods]
impl TraceReader {
    /// A reader of the format of this name; up to `skip_bad` lines or records that are wrong are left out.
    ///
    /// Where `is_kept`, all records are kept for `trace`; otherwise they are put in order on the way for `take`.
    #[new]
    #[pyo3(signature = (format, *, skip_bad = 0, volume = None, is_kept = true, takes_late = false))]
    fn new(
        format: &str,
        skip_bad: u64,
        volume: Option<u32>,
        is_kept: bool,
        takes_late: bool,
    ) -> PyResult<Self> {
        let format = format::find(format).map_err(trace_error)?;
        let options = Options { file: String::new(), skip_bad, volume };
        let late = if takes_late { Late::Counted } else { Late::Refused };
        Ok(Self {
            inner: Mutex::new(Reading {
                reader: trace::Reader::new(format, options),
                collection: is_kept.then(Collection::default),
                ordering: Ordering::new(format, late, ""),
                ordered: Vec::new(),
            }),
        })
    }

    /// Takes more bytes of the trace.
    fn feed(&self, py: Python<'_>, data: &[u8]) -> PyResult<()> {
        self.with(py, |reading| reading.feed(data))
    }

    /// Nothing follows.
    fn finish(&self, py: Python<'_>) -> PyResult<()> {
        self.with(py, |reading| {
            reading.reader.finish()?;
            reading.sort_in()?;
            if reading.collection.is_none() {
                reading.ordering.finish(&mut reading.ordered);
            }
            Ok(())
        })
    }

    /// The trace of all that was read, sorted; once, where the records are kept.
    fn trace(&self, py: Python<'_>) -> PyResult<Trace> {
        self.with(py, |reading| {
            let collection = reading.collection.take().unwrap_or_default();
            collection.into_trace(&reading.reader)
        })
        .map(Trace::from_inner)
    }

    /// The records that are in order by now and were not taken yet, column by column; times as they are recorded.
    fn take<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let records = self.with(py, |reading| Ok(std::mem::take(&mut reading.ordered)))?;
        columns_of(py, &records)
    }

    /// What was wrong so far, as a JSON list of problem, meaning, count and first place.
    fn problems(&self, py: Python<'_>) -> PyResult<String> {
        let findings = self.with(py, |reading| {
            let mut findings = reading.reader.problems().findings();
            findings.extend(reading.ordering.problems.findings());
            Ok(findings)
        })?;
        serde_json::to_string(&findings).map_err(|error| PyValueError::new_err(error.to_string()))
    }
}

impl Reading {
    fn feed(&mut self, data: &[u8]) -> Result<(), TraceError> {
        self.reader.feed(data)?;
        self.sort_in()
    }

    /// Moves what was read to where it is kept or put in order.
    fn sort_in(&mut self) -> Result<(), TraceError> {
        if let Some(collection) = &mut self.collection {
            collection.add(&mut self.reader);
            return Ok(());
        }
        for record in self.reader.take() {
            self.ordering.push(record, &mut self.ordered)?;
        }
        Ok(())
    }
}

/// Collects what a trace amounts to, in bounded memory.
#[pyclass(frozen, module = "destage.engine._engine")]
pub struct TraceProfile {
    inner: Mutex<Profile>,
}

impl TraceProfile {
    fn profile(&self) -> std::sync::MutexGuard<'_, Profile> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[pymethods]
impl TraceProfile {
    /// Nothing collected.
    #[new]
    fn new() -> Self {
        Self { inner: Mutex::new(Profile::default()) }
    }

    /// Adds the records of a reader that are in order by now and were not taken yet.
    fn add(&self, py: Python<'_>, reader: &TraceReader) -> PyResult<()> {
        reader.with(py, |reading| {
            let mut profile = self.profile();
            reading.ordered.drain(..).for_each(|record| profile.add(&record));
            Ok(())
        })
    }

    /// Adds the records of columns, as `Trace.from_columns` takes them.
    #[pyo3(signature = (t_ns, process, lba_512, n_512, op, flags, volume = None, response_ns = None))]
    #[expect(clippy::too_many_arguments, reason = "one for each column")]
    fn add_columns(
        &self,
        py: Python<'_>,
        t_ns: &[u8],
        process: &[u8],
        lba_512: &[u8],
        n_512: &[u8],
        op: &[u8],
        flags: &[u8],
        volume: Option<&[u8]>,
        response_ns: Option<(Vec<u8>, Vec<u8>)>,
    ) -> PyResult<()> {
        let columns = columns_from((t_ns, process, lba_512, n_512, op, flags), volume, response_ns);
        py.detach(|| {
            let mut profile = self.profile();
            columns.records()?.for_each(|record| profile.add(&record));
            Ok(())
        })
        .map_err(trace_error)
    }

    /// What came together so far, as JSON.
    fn report(&self, py: Python<'_>) -> PyResult<String> {
        let report = py.detach(|| self.profile().report());
        serde_json::to_string(&report).map_err(|error| PyValueError::new_err(error.to_string()))
    }
}

/// All formats that `TraceReader` reads: name, title, and whether it is a text.
#[pyfunction]
pub fn trace_formats() -> Vec<(&'static str, &'static str, bool)> {
    format::FORMATS.iter().map(|format| (format.name(), format.title(), format.is_text())).collect()
}

/// The name of the format of a trace that begins with `head`.
#[pyfunction]
pub fn recognise_trace(head: &[u8], is_whole: bool) -> PyResult<&'static str> {
    format::recognise(head, is_whole, "").map(format::Format::name).map_err(trace_error)
}

type Bytes<'a> = (&'a [u8], &'a [u8], &'a [u8], &'a [u8], &'a [u8], &'a [u8]);

fn columns_from(
    (t_ns, process, lba_512, n_512, op, flags): Bytes<'_>,
    volume: Option<&[u8]>,
    response_ns: Option<(Vec<u8>, Vec<u8>)>,
) -> Columns {
    Columns {
        time_ns: words(t_ns),
        process: half_words(process),
        lba: words(lba_512),
        sectors: half_words(n_512),
        op: op.to_vec(),
        flags: flags.to_vec(),
        volume: volume.map(half_words).unwrap_or_default(),
        response: response_ns.map(|(ns, known)| responses(&ns, &known)).unwrap_or_default(),
    }
}

fn columns_of<'py>(py: Python<'py>, records: &[Record]) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    let column = |bytes: Vec<u8>| PyBytes::new(py, &bytes);
    let collect = |value: fn(&Record) -> u64| records.iter().map(value).collect::<Vec<_>>();
    let collect_half = |value: fn(&Record) -> u32| records.iter().map(value).collect::<Vec<_>>();
    dict.set_item("t_ns", column(bytes_of(&collect(|record| record.time.0))))?;
    dict.set_item("process", column(half_bytes_of(&collect_half(|record| record.process))))?;
    dict.set_item("lba_512", column(bytes_of(&collect(|record| record.lba.0))))?;
    dict.set_item("n_512", column(half_bytes_of(&collect_half(|record| record.sectors.0 as u32))))?;
    dict.set_item("op", column(records.iter().map(|record| record.op as u8).collect()))?;
    dict.set_item("flags", column(records.iter().map(|record| record.flags.bits()).collect()))?;
    dict.set_item("volume", column(half_bytes_of(&collect_half(|record| record.volume))))?;
    dict.set_item("response_ns", response_bytes(py, records.iter().map(|record| record.response)))?;
    Ok(dict)
}

/// Response times, and a byte for each that says whether it is known.
fn response_bytes(
    py: Python<'_>,
    responses: impl Iterator<Item = Option<SimDuration>> + Clone,
) -> (Bound<'_, PyBytes>, Bound<'_, PyBytes>) {
    let known: Vec<u8> = responses.clone().map(|response| response.is_some().into()).collect();
    let ns: Vec<u64> = responses.map(|response| response.map_or(0, |response| response.0)).collect();
    (PyBytes::new(py, &bytes_of(&ns)), PyBytes::new(py, &known))
}

fn responses(ns: &[u8], known: &[u8]) -> Vec<Option<SimDuration>> {
    words(ns).into_iter().zip(known).map(|(ns, &known)| (known != 0).then_some(SimDuration(ns))).collect()
}

fn bytes_of(words: &[u64]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

fn half_bytes_of(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

fn words(bytes: &[u8]) -> Vec<u64> {
    let (words, _) = bytes.as_chunks();
    words.iter().map(|word| u64::from_le_bytes(*word)).collect()
}

fn half_words(bytes: &[u8]) -> Vec<u32> {
    let (words, _) = bytes.as_chunks();
    words.iter().map(|word| u32::from_le_bytes(*word)).collect()
}
