//! The Python extension module `destage.engine._engine`: scenarios in as JSON, rows out as Arrow.
//!
//! The GIL is released while runs execute, and a panic in a run becomes the row of a failed run.

// The macros of pyo3 pass arguments by value.
#![allow(clippy::needless_pass_by_value)]

mod assigned;
mod canonical_text;
mod composer;
mod curves;
mod errors;
mod fields;
#[cfg(target_os = "linux")]
mod huge_pages;
mod identity;
mod interruption;
mod measured;
#[cfg(feature = "mutations")]
mod mutants;
mod parts;
mod rows;
mod trace;

use std::collections::{BTreeMap, HashMap};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};

use destage_core::disk::layout_of;
use destage_core::replacement::Policy;
use destage_core::{
    COLUMNS, Interruption, Outcome, RESULTS_VERSION, RunError, Scenario, record, simulate_interruptible,
};
use pyo3::exceptions::{PyBaseException, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use composer::Composer;
use errors::{EngineConfigError, EngineStopped, EngineTraceError, run_error};
use interruption::{Interrupts, StopSignal};
use rows::Batch;
use trace::{Trace, TraceReader, TraceSummariser};

#[cfg(target_os = "linux")]
#[global_allocator]
static MEMORY: huge_pages::HugePages = huge_pages::HugePages;

/// The canonical form of a scenario: defaults filled in, base units, keys sorted.
///
/// Raises `EngineConfigError` with all rules that it breaks.
#[pyfunction]
fn normalise(scenario: &str) -> PyResult<String> {
    Scenario::from_json(scenario)
        .and_then(Scenario::normalise)
        .map(|scenario| scenario.to_canonical_json())
        .map_err(|issues| run_error(&RunError::Configuration(issues)))
}

/// The size of the data that an array can hold \[bytes\].
///
/// `array` is one of a scenario, as JSON in base units. Raises `EngineConfigError` if it cannot be built, `ValueError` if it is
/// not an array.
#[pyfunction]
fn usable_capacity(array: &str) -> PyResult<u64> {
    let array = serde_json::from_str(array).map_err(|error| PyValueError::new_err(error.to_string()))?;
    layout_of(&array)
        .map(|layout| layout.capacity().bytes().0)
        .map_err(|problem| run_error(&RunError::Configuration(vec![problem.issue("array")])))
}

/// Runs a scenario; returns its row by column.
///
/// `traces` as in `simulate_batch`. A failed run is a row with its error. Raises what the handler of a signal raised.
#[pyfunction]
fn simulate<'py>(
    py: Python<'py>,
    scenario: &str,
    traces: HashMap<String, Py<Trace>>,
) -> PyResult<Bound<'py, PyDict>> {
    let traces = by_name(traces);
    let is_main = interruption::is_main_thread(py)?;
    let outcome = py.detach(|| run_guarded(scenario, &traces, &Interrupts::new(is_main, None, None)))?;
    rows::as_dict(py, &outcome)
}

/// Runs scenarios one after the other; returns their rows in order, as a record batch, the time of each run \[s\], and what
/// ended the call before the last run, if anything: `EngineStopped` after `stop` is set, or what the handler of a signal raised.
///
/// `traces` holds the traces that they name, by digest or file name. A failed run is a row with its error, as is one that
/// takes longer than `timeout_s`.
#[pyfunction]
#[pyo3(signature = (scenarios, traces, stop = None, timeout_s = None))]
fn simulate_batch(
    py: Python<'_>,
    scenarios: Vec<String>,
    traces: HashMap<String, Py<Trace>>,
    stop: Option<Py<StopSignal>>,
    timeout_s: Option<f64>,
) -> PyResult<(Batch, Vec<f64>, Option<Py<PyBaseException>>)> {
    let traces = by_name(traces);
    let limit = timeout_s
        .map(|seconds| Duration::try_from_secs_f64(seconds).map_err(|_| PyValueError::new_err("timeout_s")))
        .transpose()?;
    let is_main = interruption::is_main_thread(py)?;
    let mut outcomes = Vec::with_capacity(scenarios.len());
    let mut seconds = Vec::with_capacity(scenarios.len());
    let ended = py.detach(|| {
        let interrupts = Interrupts::new(is_main, stop.as_ref().map(Py::get), limit);
        scenarios.iter().try_for_each(|scenario| {
            let began = Instant::now();
            outcomes.push(run_guarded(scenario, &traces, &interrupts)?);
            seconds.push(began.elapsed().as_secs_f64());
            Ok(())
        })
    });
    Ok((Batch::new(&outcomes)?, seconds, ended.err().map(|error: PyErr| error.into_value(py))))
}

/// The requests that the hosts of a scenario of one array issue, in order.
///
/// Raises `EngineConfigError` if the scenario breaks rules, `EngineTraceError` if the run fails or issues no request.
#[pyfunction]
fn record_requests(py: Python<'_>, scenario: &str, traces: HashMap<String, Py<Trace>>) -> PyResult<Trace> {
    let traces = by_name(traces);
    let is_main = interruption::is_main_thread(py)?;
    py.detach(|| {
        let interrupts = Interrupts::new(is_main, None, None);
        Scenario::from_json(scenario)
            .map_err(RunError::Configuration)
            .and_then(|scenario| record(scenario, &traces, &interrupts))
            .map_err(|error| interrupts.take_raised().unwrap_or_else(|| run_error(&error)))
    })
    .map(Trace::from_inner)
}

fn by_name(traces: HashMap<String, Py<Trace>>) -> BTreeMap<String, Arc<destage_core::trace::Trace>> {
    traces.into_iter().map(|(name, trace)| (name, trace.get().inner())).collect()
}

/// Runs a scenario; fails only if it was stopped.
fn run_guarded(
    scenario: &str,
    traces: &BTreeMap<String, Arc<destage_core::trace::Trace>>,
    interrupts: &Interrupts<'_>,
) -> PyResult<Outcome> {
    interrupts.begin_run();
    let run = || {
        let scenario = Scenario::from_json(scenario).map_err(RunError::Configuration)?;
        simulate_interruptible(scenario, traces, interrupts)
    };
    match catch_unwind(AssertUnwindSafe(run)) {
        Ok(Ok(outcome)) => Ok(outcome),
        Ok(Err(error @ RunError::Interrupted(Interruption::Stopped))) => {
            Err(interrupts.take_raised().unwrap_or_else(|| EngineStopped::new_err(error.to_string())))
        }
        Ok(Err(error)) => Ok(Outcome::failed(error.kind(), &error.to_string())),
        Err(panic) => {
            let message = panic
                .downcast_ref::<String>()
                .map(String::as_str)
                .or_else(|| panic.downcast_ref::<&str>().copied())
                .unwrap_or("the engine panicked");
            Ok(Outcome::failed("panic", &format!("run.panic: {message}")))
        }
    }
}

/// The JSON Schema of a scenario.
#[pyfunction]
fn schema() -> String {
    destage_core::config::schema().to_string()
}

/// Name, type, unit and meaning of each result column.
#[pyfunction]
fn columns() -> Vec<[&'static str; 4]> {
    COLUMNS.iter().map(|column| [column.name, column.kind().name(), column.unit, column.meaning]).collect()
}

/// The version of the results, which increases when the value of an existing column changes for the same scenario.
#[pyfunction]
fn results_version() -> u32 {
    RESULTS_VERSION
}

/// The settings with which the extension module was compiled, by name.
#[pyfunction]
fn build_settings() -> BTreeMap<&'static str, &'static str> {
    BTreeMap::from([
        ("profile", env!("DESTAGE_BUILD_PROFILE")),
        ("opt-level", env!("DESTAGE_BUILD_OPT_LEVEL")),
        ("lto", env!("DESTAGE_BUILD_LTO")),
        ("profile-guided", env!("DESTAGE_BUILD_PROFILE_GUIDED")),
        ("target", env!("DESTAGE_BUILD_TARGET")),
    ])
}

/// Hits of a cache of `capacity` unit-size entries over the accesses `keys`, little-endian u64.
///
/// `probation` and `ghosts` are shares of the capacity; by default those of the policy's paper. Raises `ValueError` if the
/// policy is unknown or a share is out of range.
#[pyfunction]
#[pyo3(signature = (policy, capacity, keys, probation = None, ghosts = None))]
fn count_hits(
    py: Python<'_>,
    policy: &str,
    capacity: usize,
    keys: &[u8],
    probation: Option<f64>,
    ghosts: Option<f64>,
) -> PyResult<u64> {
    let policy: Policy = serde_json::from_value(policy.into())
        .map_err(|error| PyValueError::new_err(format!("policy: {error}")))?;
    for (name, share) in [("probation", probation), ("ghosts", ghosts)] {
        if share.is_some_and(|share| !(0.0..=10.0).contains(&share)) {
            return Err(PyValueError::new_err(format!("{name}: allowed is 0 to 10")));
        }
    }
    let (words, _) = keys.as_chunks();
    let keys = words.iter().map(|word| u64::from_le_bytes(*word));
    let room = policy.room(capacity, probation, ghosts);
    Ok(py.detach(|| if capacity == 0 { 0 } else { policy.count_hits(room, keys) }))
}

/// The extension module.
#[pymodule]
fn _engine(module: &Bound<'_, PyModule>) -> PyResult<()> {
    // A panic is reported in the row of its run; the default hook would also print it.
    std::panic::set_hook(Box::new(|_| ()));
    let py = module.py();
    module.add("EngineConfigError", py.get_type::<EngineConfigError>())?;
    module.add("EngineTraceError", py.get_type::<EngineTraceError>())?;
    module.add("EngineStopped", py.get_type::<EngineStopped>())?;
    module.add_class::<StopSignal>()?;
    module.add_class::<Trace>()?;
    module.add_class::<TraceReader>()?;
    module.add_class::<TraceSummariser>()?;
    module.add_class::<Batch>()?;
    module.add_class::<Composer>()?;
    module.add_function(wrap_pyfunction!(normalise, module)?)?;
    module.add_function(wrap_pyfunction!(usable_capacity, module)?)?;
    module.add_function(wrap_pyfunction!(assigned::point_ids, module)?)?;
    module.add_function(wrap_pyfunction!(assigned::canonical_text, module)?)?;
    module.add_function(wrap_pyfunction!(assigned::run_id, module)?)?;
    module.add_function(wrap_pyfunction!(simulate, module)?)?;
    module.add_function(wrap_pyfunction!(simulate_batch, module)?)?;
    module.add_function(wrap_pyfunction!(record_requests, module)?)?;
    module.add_function(wrap_pyfunction!(schema, module)?)?;
    module.add_function(wrap_pyfunction!(columns, module)?)?;
    module.add_function(wrap_pyfunction!(results_version, module)?)?;
    module.add_function(wrap_pyfunction!(build_settings, module)?)?;
    module.add_function(wrap_pyfunction!(count_hits, module)?)?;
    module.add_function(wrap_pyfunction!(trace::trace_formats, module)?)?;
    module.add_function(wrap_pyfunction!(trace::recognise_trace, module)?)?;
    module.add_function(wrap_pyfunction!(curves::miss_ratio_curves, module)?)?;
    module.add_function(wrap_pyfunction!(curves::synthesise, module)?)?;
    module.add_function(wrap_pyfunction!(measured::disk_service_times, module)?)?;
    #[cfg(feature = "mutations")]
    module.add_function(wrap_pyfunction!(mutants::simulate_mutants, module)?)?;
    Ok(())
}
