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
        "when each transition of the run happened, from the start of the run on; the lists below have one entry for each",
        FloatList(|run| run.timeline.entries().iter().map(|entry| entry.at.0 as f64 / 1e9).collect()),
    ),
    column(
        "timeline_event",
        "",
        "what happened: battery, mains, disk and rebuild transitions, and the start and end of the window",
        TextList(|run| {
            run.timeline.entries().iter().map(|entry| entry.transition.name().to_owned()).collect()
        }),
    ),
    column(
        "timeline_subject",
        "",
        "what it happened to: an array, or a disk as array/index; empty for the controller",
        TextList(|run| run.timeline.entries().iter().map(|entry| entry.subject.clone()).collect()),
    ),
    column(
        "timeline_value",
        "",
        "the figure that goes with it: a battery's charge or a rebuild's progress as fractions, dirty data in bytes",
        FloatList(|run| run.timeline.entries().iter().map(|entry| entry.value).collect()),
    ),
];
