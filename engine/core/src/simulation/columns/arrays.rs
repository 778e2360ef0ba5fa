//! What each array did.

use std::borrow::Cow;

use super::super::Simulation;
use super::super::outcome::{ColumnSink, Value};
use crate::disk::BlockDevice as _;
use crate::metrics::Histogram;

pub(super) fn put_arrays(run: Option<&Simulation>, sink: &mut impl ColumnSink) {
    /// One value for each array; nothing where there is no run.
    fn each<T>(run: Option<&Simulation>, read: impl Fn(&Simulation, usize) -> T) -> Vec<T> {
        run.map_or_else(Vec::new, |run| (0..run.arrays.len()).map(|array| read(run, array)).collect())
    }
    fn histogram(run: &Simulation, array: usize) -> Cow<'_, Histogram> {
        if run.arrays.len() > 1 {
            Cow::Borrowed(&run.context.measures.by_array[array])
        } else {
            Cow::Owned(run.context.measures.response())
        }
    }
    sink.put(
        "array_names",
        "",
        "names of the arrays; the lists below have one entry for each",
        Value::TextList(each(run, |run, array| run.scenario.arrays()[array].name.clone())),
    );
    sink.put(
        "array_requests",
        "count",
        "reads and writes of each array",
        Value::IntList(each(run, |run, array| histogram(run, array).count().cast_signed())),
    );
    sink.put(
        "array_response_mean_us",
        "us",
        "mean response time of each array",
        Value::FloatList(each(run, |run, array| histogram(run, array).mean().unwrap_or(0.0) * 1e-3)),
    );
    sink.put(
        "array_response_p95_us",
        "us",
        "95th percentile of the response time of each array",
        Value::FloatList(each(run, |run, array| histogram(run, array).quantile(0.95).unwrap_or(0.0) * 1e-3)),
    );
    sink.put(
        "array_disk_busy_max_fraction",
        "fraction",
        "busy share of the busiest disk of each array",
        Value::FloatList(each(run, |run, array| {
            run.arrays
                .devices_of(array as u16)
                .map(|device| device.usage().busy_fraction())
                .fold(0.0, f64::max)
        })),
    );
}
