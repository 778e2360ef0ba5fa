//! Traces, their readers and their summaries, as Python objects.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use destage_core::trace::formats::delimited::{Column, Layout};
use destage_core::trace::summary::Summariser;
use destage_core::trace::{
    self, Columns, LatePolicy, Reader, ReaderOptions, Record, TraceBuilder, TraceError, WindowSorter, formats,
};
use destage_core::units::SimDuration;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyBytes, PyDict};

use crate::errors::trace_error;

/// A recorded sequence of block requests.
#[pyclass(frozen, module = "destage.engine._engine")]
pub struct Trace {
    inner: Arc<trace::Trace>,
}

impl Trace {
    /// The Python object of a trace.
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
    /// Makes a trace from little-endian columns of u64, u32, u64, u32, u8 and u8; optionally `volume` of u32, and
    /// `response_ns` of u64 with a byte for each that says whether it is known.
    #[staticmethod]
    fn from_columns(columns: ColumnBytes) -> PyResult<Self> {
        trace::Trace::from_columns(columns.into()).map(Self::from_inner).map_err(|error| trace_error(&error))
    }

    /// The columns, as `from_columns` takes them; `volume` and `response_ns` only if the trace has them.
    fn columns<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        dict_of(py, self.inner.columns(), &self.inner.recorded_addresses(), false)
    }

    /// Number, first sector in the trace and sectors of each volume; empty with only one volume.
    fn volumes(&self) -> Vec<(u32, u64, u64)> {
        self.inner.volumes().iter().map(|volume| (volume.number, volume.base.0, volume.length.0)).collect()
    }

    fn __len__(&self) -> usize {
        self.inner.len()
    }
}

/// Reads a trace of one format, piece by piece.
#[pyclass(frozen, module = "destage.engine._engine")]
pub struct TraceReader {
    inner: Mutex<Reading>,
}

struct Reading {
    reader: Reader,
    /// Collects all records; none if they are sorted within a window instead.
    builder: Option<TraceBuilder>,
    sorter: WindowSorter,
    sorted: Vec<Record>,
}

impl TraceReader {
    fn with<T: Send>(
        &self,
        py: Python<'_>,
        run: impl FnOnce(&mut Reading) -> Result<T, TraceError> + Send,
    ) -> PyResult<T> {
        py.detach(|| run(&mut lock(&self.inner))).map_err(|error| trace_error(&error))
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[pymethods]
impl TraceReader {
    /// A reader of the named format, which skips up to `skip_bad` bad lines or records.
    ///
    /// A `layout` describes the columns of delimited text; the format is then `columns`.
    ///
    /// With `keep`, all records are kept for `trace`; otherwise they are sorted within a window for `take`, and a record
    /// that is too late is an error unless `accept_late`.
    #[new]
    #[pyo3(signature = (format, *, skip_bad = 0, volume = None, keep = true, accept_late = false, layout = None))]
    fn new(
        format: &str,
        skip_bad: u64,
        volume: Option<u32>,
        keep: bool,
        accept_late: bool,
        layout: Option<LayoutItems>,
    ) -> PyResult<Self> {
        let options = ReaderOptions { skip_bad, volume };
        let reader = match layout {
            Some(layout) => Reader::delimited(layout.into(), options),
            None => Reader::new(formats::find(format).map_err(|error| trace_error(&error))?, options),
        };
        let late = if accept_late { LatePolicy::Count } else { LatePolicy::Reject };
        let sorter = WindowSorter::new(reader.format(), late);
        Ok(Self {
            inner: Mutex::new(Reading {
                reader,
                builder: keep.then(TraceBuilder::default),
                sorter,
                sorted: Vec::new(),
            }),
        })
    }

    /// Reads more bytes of the trace.
    fn feed(&self, py: Python<'_>, data: &[u8]) -> PyResult<()> {
        self.with(py, |reading| {
            reading.reader.feed(data)?;
            reading.move_records()
        })
    }

    /// Ends the trace: nothing follows.
    fn finish(&self, py: Python<'_>) -> PyResult<()> {
        self.with(py, |reading| {
            reading.reader.finish()?;
            reading.move_records()?;
            if reading.builder.is_none() {
                reading.sorter.finish(&mut reading.sorted);
            }
            Ok(())
        })
    }

    /// The trace of all records, sorted; once, and only with `keep`.
    fn trace(&self, py: Python<'_>) -> PyResult<Trace> {
        self.with(py, |reading| reading.builder.take().unwrap_or_default().build(&reading.reader))
            .map(Trace::from_inner)
    }

    /// Takes the columns of the records sorted so far, with times as recorded.
    fn take<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let records = self.with(py, |reading| Ok(std::mem::take(&mut reading.sorted)))?;
        let mut columns = Columns::default();
        for &record in &records {
            columns.push(record);
        }
        // Every batch has the same columns.
        columns.volume.resize(records.len(), 0);
        columns.response.resize(records.len(), None);
        dict_of(py, &columns, &columns.lba, true)
    }

    /// The warnings so far, as a JSON list of code, place of the first, message and count.
    fn problems(&self, py: Python<'_>) -> PyResult<String> {
        self.with(py, |reading| {
            let mut findings = reading.reader.findings();
            findings.extend(reading.sorter.findings());
            Ok(findings)
        })
        .and_then(|findings| json_of(serde_json::to_string(&findings)))
    }
}

impl Reading {
    /// Moves the records read to the builder or the sorter.
    fn move_records(&mut self) -> Result<(), TraceError> {
        if let Some(builder) = &mut self.builder {
            builder.take_from(&mut self.reader);
            return Ok(());
        }
        self.reader.take().try_for_each(|record| self.sorter.push(record, &mut self.sorted))
    }
}

/// Summarises a trace in bounded memory.
#[pyclass(frozen, module = "destage.engine._engine")]
pub struct TraceSummariser {
    inner: Mutex<Summariser>,
}

#[pymethods]
impl TraceSummariser {
    /// A summariser without records.
    #[new]
    fn new() -> Self {
        Self { inner: Mutex::new(Summariser::default()) }
    }

    /// Takes the records of a reader that are sorted so far.
    fn add(&self, py: Python<'_>, reader: &TraceReader) -> PyResult<()> {
        reader.with(py, |reading| {
            let mut summariser = lock(&self.inner);
            reading.sorted.drain(..).for_each(|record| summariser.add(&record));
            Ok(())
        })
    }

    /// Adds the records of columns, as `Trace.from_columns` takes them.
    fn add_columns(&self, py: Python<'_>, columns: ColumnBytes) -> PyResult<()> {
        let columns = Columns::from(columns);
        py.detach(|| {
            let mut summariser = lock(&self.inner);
            columns.records()?.for_each(|record| summariser.add(&record));
            Ok(())
        })
        .map_err(|error| trace_error(&error))
    }

    /// The summary so far, as JSON.
    fn summary(&self, py: Python<'_>) -> PyResult<String> {
        json_of(serde_json::to_string(&py.detach(|| lock(&self.inner).summary())))
    }
}

/// Name, title and whether it is a text, of each format.
#[pyfunction]
pub fn trace_formats() -> Vec<(&'static str, &'static str, bool)> {
    formats::FORMATS.iter().map(|format| (format.name(), format.title(), format.is_text())).collect()
}

/// The name of the format of a trace that begins with `head`, or is all of it if `is_whole`.
#[pyfunction]
pub fn recognise_trace(head: &[u8], is_whole: bool) -> PyResult<&'static str> {
    formats::recognise(head, is_whole).map(formats::Format::name).map_err(|error| trace_error(&error))
}

fn json_of(text: serde_json::Result<String>) -> PyResult<String> {
    text.map_err(|error| PyValueError::new_err(error.to_string()))
}

/// A layout of delimited text as Python hands it over; an unknown column has no meaning.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct LayoutItems {
    columns: Vec<String>,
    separator: u8,
    time_exponent: u32,
    response_exponent: u32,
    offset_unit: u64,
    size_unit: u64,
    has_header: bool,
}

impl From<LayoutItems> for Layout {
    fn from(items: LayoutItems) -> Self {
        Self {
            columns: items.columns.iter().map(|name| Column::find(name)).collect(),
            separator: items.separator,
            time_exponent: items.time_exponent.min(9),
            response_exponent: items.response_exponent.min(9),
            offset_unit: items.offset_unit,
            size_unit: items.size_unit,
            has_header: items.has_header,
        }
    }
}

/// The columns of a trace as Python hands them over.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct ColumnBytes {
    t_ns: PyBackedBytes,
    process: PyBackedBytes,
    lba_512: PyBackedBytes,
    n_512: PyBackedBytes,
    op: PyBackedBytes,
    flags: PyBackedBytes,
    #[pyo3(default)]
    volume: Option<PyBackedBytes>,
    #[pyo3(default)]
    response_ns: Option<(PyBackedBytes, PyBackedBytes)>,
}

impl From<ColumnBytes> for Columns {
    fn from(bytes: ColumnBytes) -> Self {
        let responses = |(ns, known): (PyBackedBytes, PyBackedBytes)| {
            let response = |(ns, &known): (u64, &u8)| (known != 0).then_some(SimDuration(ns));
            words(&ns, u64::from_le_bytes).into_iter().zip(known.iter()).map(response).collect()
        };
        Self {
            time_ns: words(&bytes.t_ns, u64::from_le_bytes),
            process: words(&bytes.process, u32::from_le_bytes),
            lba: words(&bytes.lba_512, u64::from_le_bytes),
            sectors: words(&bytes.n_512, u32::from_le_bytes),
            op: bytes.op.to_vec(),
            flags: bytes.flags.to_vec(),
            volume: bytes.volume.map(|volume| words(&volume, u32::from_le_bytes)).unwrap_or_default(),
            response: bytes.response_ns.map(responses).unwrap_or_default(),
        }
    }
}

/// The columns as Python takes them, with the addresses `lba`; the last two if they have values or `is_complete`.
fn dict_of<'py>(
    py: Python<'py>,
    columns: &Columns,
    lba: &[u64],
    is_complete: bool,
) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("t_ns", bytes_of(py, &columns.time_ns, u64::to_le_bytes))?;
    dict.set_item("process", bytes_of(py, &columns.process, u32::to_le_bytes))?;
    dict.set_item("lba_512", bytes_of(py, lba, u64::to_le_bytes))?;
    dict.set_item("n_512", bytes_of(py, &columns.sectors, u32::to_le_bytes))?;
    dict.set_item("op", PyBytes::new(py, &columns.op))?;
    dict.set_item("flags", PyBytes::new(py, &columns.flags))?;
    if is_complete || !columns.volume.is_empty() {
        dict.set_item("volume", bytes_of(py, &columns.volume, u32::to_le_bytes))?;
    }
    if is_complete || !columns.response.is_empty() {
        dict.set_item("response_ns", response_bytes(py, &columns.response))?;
    }
    Ok(dict)
}

/// Response times, and a byte for each that says whether it is known.
fn response_bytes<'py>(
    py: Python<'py>,
    responses: &[Option<SimDuration>],
) -> (Bound<'py, PyBytes>, Bound<'py, PyBytes>) {
    let known: Vec<u8> = responses.iter().map(|response| response.is_some().into()).collect();
    let ns: Vec<u64> = responses.iter().map(|response| response.map_or(0, |response| response.0)).collect();
    (bytes_of(py, &ns, u64::to_le_bytes), PyBytes::new(py, &known))
}

fn bytes_of<'py, T: Copy, const N: usize>(
    py: Python<'py>,
    words: &[T],
    bytes: fn(T) -> [u8; N],
) -> Bound<'py, PyBytes> {
    PyBytes::new(py, &words.iter().flat_map(|&word| bytes(word)).collect::<Vec<_>>())
}

fn words<T, const N: usize>(bytes: &[u8], word: fn([u8; N]) -> T) -> Vec<T> {
    bytes.as_chunks().0.iter().map(|chunk| word(*chunk)).collect()
}
