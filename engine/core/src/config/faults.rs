//! What goes wrong during a run, and when.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Arrival, Issue, Scenario};
use crate::units::SimDuration;

/// Something that goes wrong, or is done about it, at a moment of the run. `at` counts from the start of the run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Fault {
    /// The mains fail: the array stops, and what the battery holds is all that is left of the dirty data. When they are
    /// back, the cache is flushed to the disks, and then the hosts start again.
    MainsLost {
        /// When.
        at: SimDuration,
        /// How long the mains are gone.
        duration: SimDuration,
    },
    /// The battery fails for good.
    BatteryFails {
        /// When.
        at: SimDuration,
    },
    /// A learn cycle: the battery is discharged and charged again, as soon as it is full.
    LearnCycle {
        /// When.
        at: SimDuration,
    },
    /// A disk fails for good. A hot spare, where there is one left, takes its place.
    DiskFails {
        /// When.
        at: SimDuration,
        /// Name of the array; the first where it is not given.
        #[serde(default)]
        array: Option<String>,
        /// The disk, counted from 0.
        disk: u32,
    },
    /// A new disk is put in the place of the one that failed first, and its rebuild starts.
    RebuildStarts {
        /// When.
        at: SimDuration,
        /// Name of the array; the first where it is not given.
        #[serde(default)]
        array: Option<String>,
    },
}

impl Fault {
    /// When it happens, from the start of the run.
    pub const fn at(&self) -> SimDuration {
        match *self {
            Self::MainsLost { at, .. }
            | Self::BatteryFails { at }
            | Self::LearnCycle { at }
            | Self::DiskFails { at, .. }
            | Self::RebuildStarts { at, .. } => at,
        }
    }
}

impl Scenario {
    /// Notes the rules that the faults of power and battery break.
    pub(super) fn check_power_faults(&self, issues: &mut Vec<Issue>) {
        let mut outages = Vec::new();
        for (index, fault) in self.faults.iter().enumerate() {
            let Fault::MainsLost { at, duration } = *fault else { continue };
            if duration == SimDuration::ZERO {
                issues.push(Issue::new(format!("faults[{index}].duration"), "0 ns; allowed is more than 0"));
            }
            outages.push((at, SimDuration(at.0.saturating_add(duration.0)), index));
        }
        outages.sort_unstable();
        for pair in outages.windows(2) {
            let [(_, end, _), (at, _, index)] = *pair else { continue };
            if at <= end {
                issues.push(Issue::new(
                    format!("faults[{index}].at"),
                    format!(
                        "{} ns; the mains are lost until {} ns: allowed is later than that, since losses of mains must not overlap",
                        at.0, end.0
                    ),
                ));
            }
        }
        let is_replay = |stream: &super::Stream| matches!(stream.arrival, Arrival::Trace { .. });
        if let Some((_, _, index)) = outages.first()
            && let Some(stream) = self.workload.streams.iter().find(|stream| is_replay(stream))
        {
            issues.push(Issue::new(
                format!("faults[{index}].kind"),
                format!(
                    "mains_lost; stream {:?} replays a trace, whose hosts cannot start again: allowed besides are battery, disk and rebuild faults",
                    stream.name
                ),
            ));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The issues of a scenario with `faults` and an arrival process.
    fn issues(faults: &str, arrival: &str, rest: &str) -> Vec<String> {
        let text = format!(
            r#"{{"workload": {{"streams": [{{"name": "s", "arrival": {arrival}{rest}}}]}},
                "array": {{"raid": "0", "disks": 1, "disk": {{"kind": "server",
                    "service": {{"kind": "constant", "value": 1000}}, "capacity": 10551296}}}},
                "faults": {faults}}}"#
        );
        let found = Scenario::from_json(&text).unwrap().normalise().err().unwrap_or_default();
        found.iter().map(|issue| format!("{}: {}", issue.path, issue.message)).collect()
    }

    fn open(faults: &str) -> Vec<String> {
        let rest = r#", "operations": {"read_fraction": 0.5, "size": {"kind": "constant", "value": 4096}},
            "address": {"kind": "uniform"}"#;
        issues(faults, r#"{"kind": "poisson", "rate": 10}"#, rest)
    }

    #[test]
    fn mains_are_not_lost_while_they_are_lost() {
        let lost = |at: u64, duration: u64| {
            format!(r#"{{"kind": "mains_lost", "at": {at}, "duration": {duration}}}"#)
        };
        assert_eq!(open(&format!("[{}, {}]", lost(10, 5), lost(16, 5))), [""; 0]);
        assert_eq!(open(&format!("[{}, {}]", lost(16, 5), lost(10, 5))), [""; 0]);
        let found = open(&format!("[{}, {}]", lost(10, 6), lost(16, 5)));
        assert!(found[0].starts_with("faults[1].at: 16 ns; the mains are lost until 16 ns"), "{found:?}");
        let found = open(&format!("[{}]", lost(10, 0)));
        assert_eq!(found, ["faults[0].duration: 0 ns; allowed is more than 0"]);
    }

    #[test]
    fn the_hosts_of_a_trace_do_not_start_again() {
        let trace = r#"{"kind": "trace", "file": "t", "mode": "open"}"#;
        let found = issues(r#"[{"kind": "mains_lost", "at": 1, "duration": 1}]"#, trace, "");
        assert!(
            found[0].starts_with("faults[0].kind: mains_lost; stream \"s\" replays a trace"),
            "{found:?}"
        );
        assert_eq!(issues(r#"[{"kind": "battery_fails", "at": 1}]"#, trace, ""), [""; 0]);
    }
}
