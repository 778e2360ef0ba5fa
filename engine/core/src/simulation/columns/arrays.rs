//! What each array did.

use std::slice;

use super::column::{
    Reader::{FloatList, IntList, TextList},
    column,
};
use super::{Column, RunView};
use crate::disk::BlockDevice as _;
use crate::metrics::Histogram;

pub(super) const COLUMNS: &[Column] = &[
    column(
        "array_names",
        "",
        "names of the arrays; the array lists have one entry for each",
        TextList(|run| run.scenario.arrays().iter().map(|array| array.name.clone()).collect()),
    ),
    column(
        "array_requests",
        "count",
        "reads and writes of each array",
        IntList(|run| response_by_array(run).iter().map(|times| times.count().cast_signed()).collect()),
    ),
    column(
        "array_response_mean_us",
        "us",
        "mean response time of each array",
        FloatList(|run| {
            response_by_array(run).iter().map(|times| times.mean().unwrap_or(0.0) * 1e-3).collect()
        }),
    ),
    column(
        "array_response_p95_us",
        "us",
        "95th percentile of the response time of each array",
        FloatList(|run| {
            response_by_array(run).iter().map(|times| times.quantile(0.95).unwrap_or(0.0) * 1e-3).collect()
        }),
    ),
    column(
        "array_disk_busy_max_fraction",
        "fraction",
        "busy share of the busiest disk of each array",
        FloatList(|run| {
            let busiest = |array| {
                let devices = run.arrays.devices_of(array as u16);
                devices.map(|device| device.usage().busy_fraction()).fold(0.0, f64::max)
            };
            (0..run.arrays.len()).map(busiest).collect()
        }),
    ),
];

/// Response times by array; a single array has those of the run.
fn response_by_array<'a>(run: &'a RunView<'_>) -> &'a [Histogram] {
    if run.arrays.len() > 1 { &run.context.measures.by_array } else { slice::from_ref(run.response()) }
}
