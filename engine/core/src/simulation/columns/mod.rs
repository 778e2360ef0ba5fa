//! The columns of the row of a run: name, unit, meaning and where each value comes from.
//!
//! Each file holds the columns of one subject.

mod arrays;
mod battery;
mod counts;
mod destage;
mod flash;
mod hits;
mod rates;
mod redundancy;
mod response;
mod timeline;
mod usage;

use super::Simulation;
use super::outcome::{ColumnSink, Value};

type Text = Option<&'static str>;

/// Puts every column of the row of `run`; values are missing where there is no run.
pub(super) fn row(run: Option<&Simulation>, sink: &mut impl ColumnSink) {
    let text = |value: Text| Value::Text(value.map(str::to_owned));
    sink.put(
        "status",
        "",
        "ok, not_stationary, overloaded, array_failed or failed",
        text(run.map(|run| run.status().name())),
    );
    sink.put("error_kind", "", "configuration, trace, panic or deadlock", text(None));
    sink.put("error", "", "what went wrong", text(None));
    counts::put_counts(run, sink);
    rates::put_rates(run, sink);
    response::put_response(run, sink);
    hits::put_hits(run, sink);
    destage::put_destage(run, sink);
    battery::put_battery(run, sink);
    flash::put_flash(run, sink);
    redundancy::put_redundancy(run, sink);
    usage::put_use(run, sink);
    arrays::put_arrays(run, sink);
    timeline::put_timeline(run, sink);
}

/// Puts an integer column that reads a field of the run.
fn int(
    sink: &mut impl ColumnSink,
    run: Option<&Simulation>,
    (name, unit, meaning): (&str, &'static str, &str),
    read: impl Fn(&Simulation) -> u64,
) {
    sink.put(name, unit, meaning, Value::Int(run.map(|run| read(run).cast_signed())));
}

/// Puts a numeric column that reads a field of the run.
fn float(
    sink: &mut impl ColumnSink,
    run: Option<&Simulation>,
    (name, unit, meaning): (&str, &'static str, &str),
    read: impl Fn(&Simulation) -> Option<f64>,
) {
    sink.put(name, unit, meaning, Value::Float(run.and_then(read)));
}

fn ratio(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}
