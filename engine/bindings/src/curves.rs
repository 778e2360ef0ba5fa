//! Miss ratio curves, and traces synthesised from the profile of another.

use destage_core::miss_ratio_curve::{CurveOptions, Sample, miss_ratio_curves as curves};
use destage_core::replacement::Policy;
use destage_core::synthesis::{Until, draw, fit};
use destage_core::units::{Sectors, SimDuration};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde_json::json;

use crate::errors::{curve_error, exception, trace_error};
use crate::trace::Trace;

/// The miss ratio curves of reads, writes and both: columns of equal length, one value per side and size.
///
/// Raises `EngineTraceError` if the policy, the block, the rate or a size is not allowed.
#[pyfunction]
#[pyo3(signature = (trace, policy, block_sectors, sizes = None, rate = None, seed = 0))]
pub fn miss_ratio_curves<'py>(
    py: Python<'py>,
    trace: &Trace,
    policy: &str,
    block_sectors: u64,
    sizes: Option<Vec<u64>>,
    rate: Option<f64>,
    seed: u64,
) -> PyResult<Bound<'py, PyDict>> {
    let name = policy;
    let policy: Policy = serde_json::from_value(name.into()).map_err(|error| {
        exception("trace.unknown-policy", "policy", &error.to_string(), &json!({"policy": name}))
    })?;
    let options = CurveOptions {
        block: Sectors(block_sectors),
        policy,
        sample: rate.map(|rate| Sample { rate, seed }),
        sizes,
    };
    let inner = trace.inner();
    let curves = py.detach(|| curves(&inner, &options)).map_err(|error| curve_error(&error))?;
    let rows: Vec<_> =
        curves.iter().flat_map(|curve| curve.points.iter().map(move |point| (curve, point))).collect();
    let columns = PyDict::new(py);
    columns.set_item("side", rows.iter().map(|row| row.0.side.name()).collect::<Vec<_>>())?;
    columns.set_item("size_blocks", rows.iter().map(|row| row.1.blocks).collect::<Vec<_>>())?;
    columns.set_item("accesses", rows.iter().map(|row| row.0.accesses).collect::<Vec<_>>())?;
    columns.set_item("distinct_blocks", rows.iter().map(|row| row.0.distinct).collect::<Vec<_>>())?;
    columns.set_item("miss_ratio", rows.iter().map(|row| row.1.miss_ratio).collect::<Vec<_>>())?;
    columns.set_item("half_width", rows.iter().map(|row| row.1.half_width).collect::<Vec<_>>())?;
    Ok(columns)
}

/// A trace synthesised from the profile of another, and that profile as JSON.
///
/// It has `requests` requests, or ends after `duration_ns` if given. Raises `EngineTraceError` if that gives no request.
#[pyfunction]
#[pyo3(signature = (trace, block_sectors, seed, requests, duration_ns = None))]
pub fn synthesise(
    py: Python<'_>,
    trace: &Trace,
    block_sectors: u64,
    seed: u64,
    requests: u64,
    duration_ns: Option<u64>,
) -> PyResult<(Trace, String)> {
    let inner = trace.inner();
    let until = duration_ns.map_or(Until::Requests(requests), |time| Until::Time(SimDuration(time)));
    let (drawn, profile) = py.detach(|| {
        let profile = fit(&inner, Sectors(block_sectors.max(1)));
        (draw(&profile, until, seed), profile.to_json())
    });
    let drawn = drawn.map_err(|error| trace_error(&error))?;
    Ok((Trace::from_inner(drawn), profile))
}
