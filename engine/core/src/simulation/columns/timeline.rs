//! What changed and when: one entry in each list for every transition.

use super::Column;
use super::column::{
    Reader::{FloatList, TextList},
    column,
};

pub(super) const COLUMNS: &[Column] = &[
    column(
        "timeline_s",
        "s",
        "time of each transition from the start of the run; the timeline lists have one entry for each",
        FloatList(|run| run.context.timeline.entries().iter().map(|entry| entry.at.0 as f64 / 1e9).collect()),
    ),
    column(
        "timeline_event",
        "",
        "name of each transition: of the battery, mains, a disk or a rebuild, or an end of the window",
        TextList(|run| {
            run.context.timeline.entries().iter().map(|entry| entry.transition.name().to_owned()).collect()
        }),
    ),
    column(
        "timeline_subject",
        "",
        "array, or disk as array/index, of each transition; empty for the controller",
        TextList(|run| run.context.timeline.entries().iter().map(|entry| entry.subject.clone()).collect()),
    ),
    column(
        "timeline_value",
        "",
        "value at each transition: battery charge or rebuild progress as a fraction, or dirty data in bytes",
        FloatList(|run| run.context.timeline.entries().iter().map(|entry| entry.value).collect()),
    ),
];
