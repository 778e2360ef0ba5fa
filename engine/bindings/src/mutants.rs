//! Runs of the engine with a mutation, which the tests of the model must reject.

use std::collections::BTreeMap;
use std::sync::Arc;

use destage_core::trace::Trace;
use destage_core::{Mutation, Scenario, simulate_mutant};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use super::rows::Batch;

/// Runs scenarios without traces on the engine with `mutation`; returns their rows in order.
///
/// Raises `ValueError` if the mutation is unknown or a run fails.
#[pyfunction]
pub fn simulate_mutants(py: Python<'_>, scenarios: Vec<String>, mutation: &str) -> PyResult<Batch> {
    let mutation: Mutation = serde_json::from_value(mutation.into())
        .map_err(|error| PyValueError::new_err(format!("mutation: {error}")))?;
    let no_traces = BTreeMap::<String, Arc<Trace>>::new();
    let run = |text: &String| {
        let scenario = Scenario::from_json(text).map_err(|issues| format!("{issues:?}"))?;
        simulate_mutant(scenario, &no_traces, mutation).map_err(|error| error.to_string())
    };
    let outcomes: Result<Vec<_>, String> = py.detach(|| scenarios.iter().map(run).collect());
    Batch::new(&outcomes.map_err(PyValueError::new_err)?)
}
