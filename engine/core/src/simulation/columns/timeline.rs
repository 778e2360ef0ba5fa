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
        "the transition: of battery, mains, disk or rebuild, and start and end of the window",
        TextList(|run| {
            run.context.timeline.entries().iter().map(|entry| entry.transition.name().to_owned()).collect()
        }),
    ),
    column(
        "timeline_subject",
        "",
        "the array, or the disk as array/index; empty for the controller",
        TextList(|run| run.context.timeline.entries().iter().map(|entry| entry.subject.clone()).collect()),
    ),
    column(
        "timeline_value",
        "",
        "value at the transition: a battery's charge or a rebuild's progress as fractions, dirty data in bytes",
        FloatList(|run| run.context.timeline.entries().iter().map(|entry| entry.value).collect()),
    ),
];
