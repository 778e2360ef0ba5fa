//! The request list of a run: what the hosts asked for and when, as a trace that can be replayed or handed on.

use super::{Simulation, TraceStore};
use crate::config::Scenario;
use crate::error::RunError;
use crate::issue::Issue;
use crate::trace::{Flags, Record, Trace};
use crate::units::SimDuration;
use crate::workload::Command;

/// Runs a scenario of one array, and gives the requests that its hosts issued up to the end of the run, in order.
///
/// The process of a record is the source that issued it: the users of the first stream from 0 on, then those of the
/// second. Closed hosts ask when they are answered, so their list depends on the array; that of open ones does not.
///
/// # Errors
/// What [`simulate`](super::simulate) refuses; more than one array, whose addresses would mix; no request at all.
pub fn record(scenario: Scenario, traces: &dyn TraceStore) -> Result<Trace, RunError> {
    let scenario = scenario.normalise().map_err(RunError::Configuration)?;
    if scenario.arrays().len() > 1 {
        let message =
            format!("{} arrays; allowed is one, since their addresses would mix", scenario.arrays().len());
        return Err(Issue::new("scenario.several-arrays", "arrays", message).into());
    }
    let mut simulation = Simulation::build(scenario, traces)?;
    simulation.recorded = Some(Box::default());
    simulation.run()?;
    let columns = simulation.recorded.take().map(|columns| *columns).unwrap_or_default();
    Ok(Trace::from_columns(columns)?)
}

impl Simulation {
    /// Notes a command where the run is recorded.
    #[inline]
    pub(super) fn note_command(&mut self, source: u32, command: Command) {
        if let Some(columns) = &mut self.recorded {
            columns.push(Record {
                time: SimDuration(self.now.0),
                process: source,
                volume: 0,
                lba: command.lba,
                sectors: command.sectors,
                op: command.operation,
                flags: if command.is_forced { Flags::FUA } else { Flags::NONE },
                response: None,
            });
        }
    }
}
