//! What each array did.

use std::slice;

use super::RunView;
use crate::disk::BlockDevice as _;
use crate::metrics::Histogram;

columns! {
    /// names of the arrays; the array lists have one entry for each
    array_names, "", TextList(|run| run.scenario.arrays().iter().map(|array| array.name.clone()).collect());
    /// reads and writes of each array
    array_requests, "count", IntList(|run| of_responses(run, |times| times.count().cast_signed()));
    /// mean response time of each array
    array_response_mean_us, "us", FloatList(|run| of_responses(run, |times| times.mean().unwrap_or(0.0) * 1e-3));
    /// 95th percentile of the response time of each array
    array_response_p95_us, "us", FloatList(|run| {
        of_responses(run, |times| times.quantile(0.95).unwrap_or(0.0) * 1e-3)
    });
    /// busy share of the busiest disk of each array
    array_disk_busy_max_fraction, "fraction", FloatList(|run| {
        let busiest = |array| {
            let devices = run.arrays.devices_of(array as u16);
            devices.map(|device| device.usage().busy_fraction()).fold(0.0, f64::max)
        };
        (0..run.arrays.len()).map(busiest).collect()
    });
}

/// A figure of the response times of each array; a single array has those of the run.
fn of_responses<T>(run: &RunView<'_>, read: fn(&Histogram) -> T) -> Vec<T> {
    let several = run.arrays.len() > 1;
    let times = if several { &run.measures().by_array } else { slice::from_ref(run.response()) };
    times.iter().map(read).collect()
}
