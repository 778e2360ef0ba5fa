//! The rules of mains losses.

use crate::config::{Arrival, Fault, Scenario, Stream};
use crate::issue::Issue;
use crate::units::SimDuration;

impl Scenario {
    /// Checks the mains losses.
    pub(super) fn check_power_faults(&self, issues: &mut Vec<Issue>) {
        let mut outages = Vec::new();
        for (index, fault) in self.faults.iter().enumerate() {
            let Fault::MainsLost { at, duration } = *fault else { continue };
            outages.push((at, SimDuration(at.0.saturating_add(duration.0)), index));
        }
        outages.sort_unstable();
        for pair in outages.windows(2) {
            let [(_, end, _), (at, _, index)] = *pair else { continue };
            if at <= end {
                issues.push(Issue::new(
                    "scenario.overlapping-mains-losses",
                    format!("faults.{index}.at"),
                    format!(
                        "{} ns; allowed is after the mains loss before, which ends at {} ns",
                        at.0, end.0
                    ),
                ));
            }
        }
        let is_replay = |stream: &Stream| matches!(stream.arrival, Arrival::Trace { .. });
        if let Some((_, _, index)) = outages.first()
            && let Some(stream) = self.workload.streams.iter().find(|stream| is_replay(stream))
        {
            issues.push(Issue::new(
                "scenario.mains-loss-in-replay",
                format!("faults.{index}.kind"),
                format!(
                    "mains_lost; not allowed while stream {:?} replays a trace, whose hosts cannot restart",
                    stream.name
                ),
            ));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Code and place of the issues of a scenario with `faults` and an arrival process.
    fn issues(faults: &str, arrival: &str, rest: &str) -> Vec<(&'static str, String)> {
        let text = format!(
            r#"{{"workload": {{"streams": [{{"name": "s", "arrival": {arrival}{rest}}}]}},
                "array": {{"raid": "0", "disks": 1, "disk": {{"kind": "server",
                    "service": {{"kind": "constant", "value": 1000}}, "capacity": 10551296}}}},
                "faults": {faults}}}"#
        );
        let found = Scenario::from_json(&text).unwrap().normalise().err().unwrap_or_default();
        found.into_iter().map(|issue| (issue.code, issue.place)).collect()
    }

    fn open(faults: &str) -> Vec<(&'static str, String)> {
        let rest = r#", "operations": {"read_fraction": 0.5, "size": {"kind": "constant", "value": 4096}},
            "address": {"kind": "uniform"}"#;
        issues(faults, r#"{"kind": "poisson", "rate": 10}"#, rest)
    }

    #[test]
    fn mains_losses_do_not_overlap() {
        let lost = |at: u64, duration: u64| {
            format!(r#"{{"kind": "mains_lost", "at": {at}, "duration": {duration}}}"#)
        };
        assert_eq!(open(&format!("[{}, {}]", lost(10, 5), lost(16, 5))), []);
        assert_eq!(open(&format!("[{}, {}]", lost(16, 5), lost(10, 5))), []);
        let found = open(&format!("[{}, {}]", lost(10, 6), lost(16, 5)));
        assert_eq!(found, [("scenario.overlapping-mains-losses", "faults.1.at".into())]);
        let found = open(&format!("[{}]", lost(10, 0)));
        assert_eq!(found, [("scenario.out-of-range", "faults.0.duration".into())]);
    }

    #[test]
    fn replay_and_mains_loss_exclude_each_other() {
        let trace = r#"{"kind": "trace", "file": "t", "mode": "open"}"#;
        let found = issues(r#"[{"kind": "mains_lost", "at": 1, "duration": 1}]"#, trace, "");
        assert_eq!(found, [("scenario.mains-loss-in-replay", "faults.0.kind".into())]);
        assert_eq!(issues(r#"[{"kind": "battery_fails", "at": 1}]"#, trace, ""), []);
    }
}
