//! From a normalised scenario to a run that can start.

use super::array_set::ArraySet;
use super::context::Context;
use super::firmware::Firmware;
use super::front_end::FrontEnd;
use super::hosts::Hosts;
use super::power::Power;
use super::read_side::ReadSide;
use super::run_control::RunControl;
use super::write_back::WriteBack;
use super::{Simulation, TraceStore};
use crate::config::Scenario;
use crate::error::RunError;

impl Simulation {
    /// The run of a normalised scenario.
    ///
    /// # Errors
    /// An array cannot be built, or a trace cannot be replayed.
    pub(super) fn build(scenario: Scenario, traces: &dyn TraceStore) -> Result<Self, RunError> {
        let controller = &scenario.controller;
        let arrays = ArraySet::new(&scenario, WriteBack::idle_delay(&scenario))?;
        let hosts = Hosts::new(&scenario, &arrays, traces)?;
        let power = Power::new(&controller.battery);
        let write_back = WriteBack::new(&scenario, &arrays, power.protection());
        let marks = write_back.as_ref().map(|back| back.marks);
        Ok(Self {
            context: Context::new(Firmware::new(&controller.firmware, &scenario.run), arrays.len()),
            event_count: 0,
            front_end: FrontEnd::new(controller, hosts.population()),
            reads: ReadSide::new(&controller.cache),
            control: RunControl::new(&scenario.run, &scenario.workload, marks),
            hosts,
            write_back,
            arrays,
            power,
            at_window_end: None,
            scenario,
        })
    }
}
