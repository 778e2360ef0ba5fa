//! Wrong models, made on purpose: every proof of the model has to tell them from the right one.
//!
//! They are compiled into the tests, and into the engine that `make validation` builds beside the one that users run
//! (feature `mutations`); no wheel has them.

use serde::{Deserialize, Serialize};

use super::{Simulation, TraceStore};
use crate::config::Scenario;
use crate::disk::BlockDevice as _;
use crate::error::RunError;
use crate::simulation::Outcome;

/// What is wrong with a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mutation {
    /// Of a hundred requests that end, one is not measured.
    UnmeasuredRequest,
    /// Of a hundred I/Os of a disk, one is not counted.
    UncountedDiskIo,
    /// A write to the disks leaves out the last of several: the second copy, or the last parity.
    LastWriteLeftOut,
    /// A write to the disks leaves out the last of its reads: that of the old parity in a read-modify-write.
    LastReadLeftOut,
    /// Of a hundred lines that the read cache holds and a read asks for, three are not found.
    UnseenLine,
    /// Of a hundred writes that overwrite dirty lines only, three are not taken for such.
    UnseenWriteHit,
}

impl Mutation {
    /// How often it strikes: once in so many occasions.
    const fn period(self) -> u64 {
        match self {
            Self::UnmeasuredRequest | Self::UncountedDiskIo => 100,
            Self::LastWriteLeftOut | Self::LastReadLeftOut => 1,
            Self::UnseenLine | Self::UnseenWriteHit => 33,
        }
    }
}

/// A mutation at work in a run.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mistake {
    mutation: Mutation,
    occasions: u64,
}

/// Runs a scenario on a wrong model.
///
/// # Errors
/// What [`simulate`](super::simulate) refuses.
pub fn simulate_mutant(
    scenario: Scenario,
    traces: &dyn TraceStore,
    mutation: Mutation,
) -> Result<Outcome, RunError> {
    let scenario = scenario.normalise().map_err(RunError::Configuration)?;
    let mut simulation = Simulation::build(scenario, traces)?;
    simulation.mistake = Some(Mistake { mutation, occasions: 0 });
    if mutation == Mutation::UncountedDiskIo {
        for device in &mut simulation.devices {
            device.usage_mut().leave_out_one_in(mutation.period());
        }
    }
    simulation.run()?;
    Ok(simulation.into_outcome())
}

impl Simulation {
    /// Whether `mutation` is at work, and strikes on this occasion.
    pub(super) fn is_struck_by(&mut self, mutation: Mutation) -> bool {
        let Some(mistake) = self.mistake.as_mut().filter(|mistake| mistake.mutation == mutation) else {
            return false;
        };
        mistake.occasions += 1;
        mistake.occasions.is_multiple_of(mutation.period())
    }

    /// Leaves a disk I/O out of the stripe write that has been planned.
    pub(super) fn mutate_stripe_write(&mut self) {
        if self.stripe_write.writes.len() > 1 && self.is_struck_by(Mutation::LastWriteLeftOut) {
            self.stripe_write.writes.pop();
        }
        if !self.stripe_write.reads.is_empty() && self.is_struck_by(Mutation::LastReadLeftOut) {
            self.stripe_write.reads.pop();
        }
    }

    /// Drops a line of the read cache before it is looked for.
    pub(super) fn mutate_read_cache(&mut self, array: u16, line: u64) {
        let is_held = self.read_cache.as_ref().is_some_and(|cache| cache.has(array, line));
        if is_held
            && self.is_struck_by(Mutation::UnseenLine)
            && let Some(cache) = &mut self.read_cache
        {
            cache.invalidate(array, line);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::simulation::simulate;

    const READ_CACHE: &str = r#""write_fraction": 0.0, "read": {"mode": "cached", "read_ahead": null}"#;
    const WRITE_CACHE: &str = r#""write_fraction": 1.0"#;

    /// A column of 3,300 reads or writes of one place on one server, right and with a mutation.
    fn both(read_fraction: f64, cache: &str, mutation: Mutation, column: &str) -> [Option<f64>; 2] {
        let text = format!(
            r#"{{"workload": {{"streams": [{{"name": "load", "arrival": {{"kind": "fixed_outstanding", "depth": 1}},
                "operations": {{"read_fraction": {read_fraction}, "size": {{"kind": "constant", "value": 4096}}}},
                "address": {{"kind": "uniform", "footprint": 4096}}}}]}},
            "controller": {{"cache": {{"capacity": 1048576, "usable": 1048576, "line": 4096, {cache}}},
                "battery": {{"state": "present"}}, "firmware": {{"command_time": 1000}}}},
            "array": {{"raid": "0", "disks": 1, "disk": {{"kind": "server", "capacity": 1000000000,
                "service": {{"kind": "constant", "value": 1000000}}}}}},
            "run": {{"warm_up": "none", "window": {{"requests": 3300}}}}}}"#
        );
        let scenario = || Scenario::from_json(&text).unwrap();
        let traces = BTreeMap::new();
        [simulate(scenario(), &traces), simulate_mutant(scenario(), &traces, mutation)]
            .map(|outcome| outcome.unwrap().number(column))
    }

    #[test]
    fn a_request_in_a_hundred_is_not_measured() {
        let ours = both(1.0, READ_CACHE, Mutation::UnmeasuredRequest, "requests");
        assert_eq!(ours, [Some(3300.0), Some(3267.0)]);
    }

    #[test]
    fn a_disk_io_in_a_hundred_is_not_counted() {
        let no_cache = r#""write_fraction": 0.0, "read": {"mode": "prefetch_only", "read_ahead": null}"#;
        let ours = both(1.0, no_cache, Mutation::UncountedDiskIo, "disk_reads");
        assert_eq!(ours, [Some(3300.0), Some(3267.0)]);
    }

    #[test]
    fn three_hits_in_a_hundred_become_misses() {
        let ours = both(1.0, READ_CACHE, Mutation::UnseenLine, "read_misses_random");
        assert_eq!(ours, [Some(1.0), Some(1.0 + 99.0)]);
        let ours = both(0.0, WRITE_CACHE, Mutation::UnseenWriteHit, "write_hit_ratio");
        assert_eq!(ours, [Some(3299.0 / 3300.0), Some(3200.0 / 3300.0)]);
    }

    #[test]
    fn other_mutations_leave_a_run_alone() {
        for mutation in [Mutation::LastWriteLeftOut, Mutation::LastReadLeftOut, Mutation::UnseenLine] {
            let [right, wrong] = both(0.0, WRITE_CACHE, mutation, "response_mean_us");
            assert_eq!(right, wrong);
        }
    }
}
