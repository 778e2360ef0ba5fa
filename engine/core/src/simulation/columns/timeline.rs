//! What changed and when: one entry in each list for every transition.

use super::super::Simulation;
use super::super::outcome::{ColumnSink, Value};
use super::super::timeline::Entry;

pub(super) fn put_timeline(run: Option<&Simulation>, sink: &mut impl ColumnSink) {
    fn entries(run: Option<&Simulation>) -> &[Entry] {
        run.map_or(&[], |run| run.context.timeline.entries())
    }
    sink.put(
        "timeline_s",
        "s",
        "when each transition of the run happened, from the start of the run on; the lists below have one entry for each",
        Value::FloatList(entries(run).iter().map(|entry| entry.at.0 as f64 / 1e9).collect()),
    );
    sink.put(
        "timeline_event",
        "",
        "what happened: battery, mains, disk and rebuild transitions, and the start and end of the window",
        Value::TextList(entries(run).iter().map(|entry| entry.transition.name().to_owned()).collect()),
    );
    sink.put(
        "timeline_subject",
        "",
        "what it happened to: an array, or a disk as array/index; empty for the controller",
        Value::TextList(entries(run).iter().map(|entry| entry.subject.clone()).collect()),
    );
    sink.put(
        "timeline_value",
        "",
        "the figure that goes with it: a battery's charge or a rebuild's progress as fractions, dirty data in bytes",
        Value::FloatList(entries(run).iter().map(|entry| entry.value).collect()),
    );
}
