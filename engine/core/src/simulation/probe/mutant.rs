//! Runs of a model with a mutation.

use crate::config::Scenario;
use crate::disk::BlockDevice as _;
use crate::error::RunError;
use crate::interruption::Uninterrupted;
use crate::mutation::{Mutant, Mutation};
use crate::simulation::{Outcome, Simulation, TraceStore};

/// Runs a scenario on a model with a mutation.
///
/// # Errors
/// The errors of [`simulate`](super::simulate).
pub fn simulate_mutant(
    scenario: Scenario,
    traces: &dyn TraceStore,
    mutation: Mutation,
) -> Result<Outcome, RunError> {
    let scenario = scenario.normalise().map_err(RunError::Configuration)?;
    let mut simulation = Simulation::build(scenario, traces)?;
    simulation.build_in(mutation);
    simulation.run(&Uninterrupted)?;
    Ok(simulation.into_outcome())
}

impl Simulation {
    /// Builds a mutation into the model.
    pub(in crate::simulation) fn build_in(&mut self, mutation: Mutation) {
        self.context.probe.mutant = Mutant::new(mutation);
        if let Some(back) = &mut self.write_back {
            back.cache.mutant = Mutant::new(mutation);
        }
        if mutation == Mutation::UncountedDiskIo {
            for device in &mut self.arrays.devices {
                device.usage_mut().leave_out_one_in(mutation.period());
            }
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

    /// A column of 3,300 reads or writes of one address on one server, without and with a mutation.
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
