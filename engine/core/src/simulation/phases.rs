//! The phases of a run: what begins and ends with warm-up, window and drain, and with the phases of the workload.

use super::Simulation;
use super::run_control::{Phase, Step, Unsettled};
use super::timeline::Transition;
use super::write_back::WriteBack;
use crate::event::Event;
use crate::units::SimDuration;

impl Simulation {
    /// Starts the first phase.
    pub(super) fn start_phases(&mut self) {
        let step = self.control.start(&mut self.context.events);
        self.follow(step);
    }

    /// Does what follows from a check of the run's progress.
    fn follow(&mut self, step: Step) {
        match step {
            Step::Continue => {}
            Step::BeginWindow => self.begin_window(),
            Step::EndWindow => self.end_window(),
            Step::EndInput => self.end_input(),
        }
    }

    /// Whether the run is over.
    pub(super) fn is_over(&self) -> bool {
        match self.control.phase {
            Phase::Over => true,
            Phase::Draining => {
                self.front_end.outstanding() == 0 && self.write_back.as_ref().is_none_or(WriteBack::is_clean)
            }
            Phase::WarmUp | Phase::Window => false,
        }
    }

    /// Whether every source has issued all its requests, and all of them are complete.
    #[inline]
    pub(super) fn is_input_over(&self) -> bool {
        self.front_end.outstanding() == 0 && self.hosts.is_over()
    }

    /// A read or write is complete.
    #[inline]
    pub(super) fn count_completion(&mut self, response: SimDuration) {
        if self.control.count(response, self.write_back.as_ref(), &self.context.measures) {
            let step = self.control.check(self.context.now(), &self.context.measures);
            self.follow(step);
        }
    }

    /// Ends the window, or the run, if no input is left that it waits for.
    #[inline]
    pub(super) fn end_if_input_over(&mut self) {
        if !self.hosts.is_replaying() {
            let step = self.control.end_replays(self.hosts.has_replays(), || self.is_input_over());
            if step != Step::Continue {
                self.follow(step);
            }
        }
    }

    /// The input has ended before the window.
    pub(super) fn end_input(&mut self) {
        match self.control.phase {
            Phase::WarmUp => {
                // There is nothing left to measure.
                self.control.is_stationary = false;
                self.control.unsettled = Some(Unsettled::Input);
                self.begin_window();
                self.end_window();
            }
            Phase::Window => self.end_window(),
            Phase::Draining | Phase::Over => self.control.phase = Phase::Over,
        }
    }

    /// The backlog of an open load has outgrown its limit: the run ends.
    #[cold]
    pub(super) fn end_by_backlog(&mut self) {
        self.control.is_backlogged = true;
        self.stop_measuring();
    }

    /// An array has lost data: the run ends. Requests to that array that are in progress have failed.
    pub(super) fn end_by_array_failure(&mut self, array: u16) {
        if matches!(self.control.phase, Phase::Draining | Phase::Over) {
            self.control.phase = Phase::Over;
            return;
        }
        self.control.has_failed = true;
        let requests = self.front_end.requests.iter();
        let failed = requests.filter(|request| request.array == array).count() as u64;
        self.stop_measuring();
        self.context.measures.counts.failed_requests = failed;
        self.context.record(Transition::WindowEnds, "", 0.0);
    }

    /// Ends the window at once, and the run with it.
    fn stop_measuring(&mut self) {
        if self.control.phase == Phase::WarmUp {
            self.begin_window();
        }
        self.control.phase = Phase::Over;
        self.advance_measures();
    }

    fn begin_window(&mut self) {
        self.control.begin_window(&mut self.context.events);
        self.context.record(Transition::WindowBegins, "", 0.0);
        self.reset_measures();
    }

    fn end_window(&mut self) {
        self.control.next_check = u64::MAX;
        self.context.record(Transition::WindowEnds, "", 0.0);
        self.advance_measures();
        if !self.scenario.run.drain {
            self.control.phase = Phase::Over;
            return;
        }
        self.control.phase = Phase::Draining;
        self.at_window_end = Some(self.window_end());
        self.update_draining();
        self.destage_if_due();
    }

    /// The timed warm-up or window is over.
    pub(super) fn on_clock(&mut self) {
        let step = self.control.end_time();
        self.follow(step);
        if step == Step::BeginWindow {
            self.end_if_input_over();
        }
    }

    /// Records the phases of the workload as they begin and end.
    pub(super) fn start_timeline(&mut self) {
        if !self.scenario.workload.phases.is_empty() {
            self.on_phase(0);
        }
    }

    /// A phase of the workload begins, or the last one has ended.
    pub(super) fn on_phase(&mut self, index: u32) {
        let phases = &self.scenario.workload.phases;
        let before = (index as usize).checked_sub(1).map(|before| &phases[before]);
        if let Some(phase) = before {
            self.context.record(Transition::PhaseEnds, &phase.name, 0.0);
        }
        let Some(phase) = phases.get(index as usize) else { return };
        self.context.record(Transition::PhaseBegins, &phase.name, 0.0);
        if let Some(lasts) = phase.lasts {
            let end = self.context.now() + lasts;
            self.context.schedule(end, Event::Phase(index + 1));
        }
    }

    /// Whether an open load exceeded what the array carries: its backlog outgrew its limit, or a replay ended long after
    /// its last arrival.
    pub(super) fn is_overloaded(&self) -> bool {
        self.control.is_backlogged || self.hosts.is_overloaded()
    }
}
