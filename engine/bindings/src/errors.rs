//! Errors of the core as Python exceptions.

use destage_core::RunError;
use destage_core::miss_ratio_curve::CurveError;
use destage_core::trace::TraceError;
use pyo3::create_exception;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use serde_json::{Value, json};

create_exception!(
    _engine,
    EngineConfigError,
    PyValueError,
    "A configuration breaks rules: `issues` is a JSON list of code, place and message."
);
create_exception!(
    _engine,
    EngineTraceError,
    PyValueError,
    "A trace cannot be used: `issues` is a JSON list of code, place, message and data."
);
create_exception!(_engine, EngineStopped, PyRuntimeError, "A run was stopped before its end.");

/// The exception for why a run cannot start or failed.
pub fn run_error(error: &RunError) -> PyErr {
    let exception = match error {
        RunError::Configuration(_) => EngineConfigError::new_err(error.to_string()),
        RunError::Trace(error) => return trace_error(error),
        _ => EngineTraceError::new_err(error.to_string()),
    };
    with_issues(exception, &json!(error.issues()))
}

/// The exception for why a trace cannot be used.
pub fn trace_error(error: &TraceError) -> PyErr {
    exception(error.code(), &error.place(), &error.to_string(), &error.data())
}

/// The exception for why a miss ratio curve cannot be computed.
pub fn curve_error(error: &CurveError) -> PyErr {
    exception(error.code(), error.place(), &error.to_string(), &error.data())
}

/// The exception with this issue.
pub fn exception(code: &'static str, place: &str, message: &str, data: &Value) -> PyErr {
    let issue = json!({"code": code, "place": place, "message": message, "data": data});
    with_issues(EngineTraceError::new_err(message.to_owned()), &json!([issue]))
}

fn with_issues(exception: PyErr, issues: &Value) -> PyErr {
    match Python::attach(|py| exception.value(py).setattr("issues", issues.to_string())) {
        Ok(()) => exception,
        Err(failure) => failure,
    }
}
