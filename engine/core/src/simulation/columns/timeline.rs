//! What changed and when: one entry in each list for every transition.

use super::RunView;
use crate::simulation::timeline::Entry;

columns! {
    /// time of each transition from the start of the run; the timeline lists have one entry for each
    timeline_s, "s", FloatList(|run| of_entries(run, |entry| entry.at.0 as f64 / 1e9));
    /// the transition: of battery, mains, disk or rebuild, and start and end of the window
    timeline_event, "", TextList(|run| of_entries(run, |entry| entry.transition.name().to_owned()));
    /// the array, or the disk as array/index; empty for the controller
    timeline_subject, "", TextList(|run| of_entries(run, |entry| entry.subject.clone()));
    /// value at the transition: a battery's charge or a rebuild's progress as fractions, dirty data in bytes
    timeline_value, "", FloatList(|run| of_entries(run, |entry| entry.value));
}

fn of_entries<T>(run: &RunView<'_>, read: fn(&Entry) -> T) -> Vec<T> {
    run.context.timeline.entries().iter().map(read).collect()
}
