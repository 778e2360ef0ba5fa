//! Recorded traces as Python holds them.

use std::sync::Arc;

use destage_core::trace::{self, Columns, TraceError, blkparse};
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
    /// Reads blkparse's default text format; `name` stands in error messages.
    #[staticmethod]
    fn from_blkparse(py: Python<'_>, data: &[u8], name: &str) -> PyResult<Self> {
        let reading = py.detach(|| blkparse::read(data, name)).map_err(trace_error)?;
        Ok(Self { inner: Arc::new(reading.trace) })
    }

    /// Makes a trace from little-endian columns of u64, u32, u64, u32, u8 and u8.
    #[staticmethod]
    fn from_columns(
        t_ns: &[u8],
        process: &[u8],
        lba_512: &[u8],
        n_512: &[u8],
        op: &[u8],
        flags: &[u8],
    ) -> PyResult<Self> {
        let columns = Columns {
            time_ns: words(t_ns),
            process: half_words(process),
            lba: words(lba_512),
            sectors: half_words(n_512),
            op: op.to_vec(),
            flags: flags.to_vec(),
        };
        let trace = trace::Trace::from_columns(columns).map_err(trace_error)?;
        Ok(Self { inner: Arc::new(trace) })
    }

    /// The columns, as `from_columns` takes them.
    fn columns<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let columns = self.inner.columns();
        let bytes_of =
            |words: &[u64]| -> Vec<u8> { words.iter().flat_map(|word| word.to_le_bytes()).collect() };
        let half_bytes_of =
            |words: &[u32]| -> Vec<u8> { words.iter().flat_map(|word| word.to_le_bytes()).collect() };
        let dict = PyDict::new(py);
        for (name, bytes) in [
            ("t_ns", bytes_of(&columns.time_ns)),
            ("process", half_bytes_of(&columns.process)),
            ("lba_512", bytes_of(&columns.lba)),
            ("n_512", half_bytes_of(&columns.sectors)),
            ("op", columns.op.clone()),
            ("flags", columns.flags.clone()),
        ] {
            dict.set_item(name, PyBytes::new(py, &bytes))?;
        }
        Ok(dict)
    }

    fn __len__(&self) -> usize {
        self.inner.len()
    }
}

fn words(bytes: &[u8]) -> Vec<u64> {
    let (words, _) = bytes.as_chunks();
    words.iter().map(|word| u64::from_le_bytes(*word)).collect()
}

fn half_words(bytes: &[u8]) -> Vec<u32> {
    let (words, _) = bytes.as_chunks();
    words.iter().map(|word| u32::from_le_bytes(*word)).collect()
}
