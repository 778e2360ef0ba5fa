//! Errors of the core as Python exceptions.

use destage_core::miss_ratio_curve::CurveError;
use destage_core::trace::TraceError;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use serde_json::Value;

pyo3::create_exception!(
    _engine,
    EngineTraceError,
    PyValueError,
    "A trace cannot be used. `args` are code, message, place and data, as `destage.errors.TraceError` takes them."
);

/// The exception of an error of a trace.
pub fn trace_error(error: &TraceError) -> PyErr {
    exception(error.code(), error.to_string(), error.place(), &error.data())
}

/// The exception of an error of a miss ratio curve.
pub fn curve_error(error: &CurveError) -> PyErr {
    exception(error.code(), error.to_string(), String::new(), &error.data())
}

/// The exception with these arguments; `data` is a JSON object.
pub fn exception(code: &'static str, message: String, place: String, data: &Value) -> PyErr {
    Python::attach(|py| {
        let data = py.import("json")?.call_method1("loads", (data.to_string(),))?.unbind();
        Ok(EngineTraceError::new_err((code, message, place, data)))
    })
    .unwrap_or_else(|error| error)
}
