//! The request list of a run: what the hosts issued and when, as a trace that can be replayed.

use super::{Simulation, TraceStore};
use crate::config::Scenario;
use crate::error::RunError;
use crate::interruption::Interrupt;
use crate::issue::Issue;
use crate::trace::Trace;

/// Runs a scenario of one array, and returns the requests that its hosts issued up to the end of the run, in order.
///
/// The process of a record is the source that issued it: the users of the first stream from 0 on, then those of the
/// second. Closed hosts wait for answers, so their list depends on the array; that of open hosts does not.
///
/// # Errors
/// What [`simulate_interruptible`](super::simulate_interruptible) rejects; more than one array, whose addresses would mix; no request at all.
pub fn record(
    scenario: Scenario,
    traces: &dyn TraceStore,
    interrupt: &dyn Interrupt,
) -> Result<Trace, RunError> {
    let scenario = scenario.normalise().map_err(RunError::Configuration)?;
    if scenario.arrays().len() > 1 {
        let message =
            format!("{} arrays; allowed is one, since their addresses would mix", scenario.arrays().len());
        return Err(Issue::new("scenario.several-arrays", "arrays", message).into());
    }
    let mut simulation = Simulation::build(scenario, traces)?;
    simulation.hosts.recorded = Some(Box::default());
    simulation.run(interrupt)?;
    let columns = simulation.hosts.recorded.take().map(|columns| *columns).unwrap_or_default();
    Ok(Trace::from_columns(columns)?)
}
