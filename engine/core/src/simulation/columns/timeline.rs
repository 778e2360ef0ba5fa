//! What changed and when: one entry in each list for every transition.

use super::RunView;
use crate::simulation::timeline::Entry;

columns! {
    /// time of each transition from the start of the run; the timeline lists have one entry for each
    timeline_s, "s", FloatList(|run| of_entries(run, |entry| entry.at.0 as f64 / 1e9));
    /// name of each transition: of the battery, mains, a disk or a rebuild, or an end of the window
    timeline_event, "", TextList(|run| of_entries(run, |entry| entry.transition.name().to_owned()));
    /// array, or disk as array/index, of each transition; empty for the controller
    timeline_subject, "", TextList(|run| of_entries(run, |entry| entry.subject.clone()));
    /// value at each transition: battery charge or rebuild progress as a fraction, or dirty data in bytes
    timeline_value, "", FloatList(|run| of_entries(run, |entry| entry.value));
}

fn of_entries<T>(run: &RunView<'_>, read: fn(&Entry) -> T) -> Vec<T> {
    run.context.timeline.entries().iter().map(read).collect()
}
