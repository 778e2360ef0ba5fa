//! Run control: when warm-up ends, when the window ends, whether the run was stationary.
//!
//! `auto` warm-up runs until MSER-5 truncates both the response times and the dirty fraction within the first half of
//! what has completed; then the window starts. An `auto` window lasts until there are enough requests, the mean
//! response time is known within 12 %, response time is stationary within the window, and the write cache has turned
//! over three times or its dirty fraction is stationary. A run that is not stationary within `max_requests` is reported so.
//!
//! White: An effective truncation heuristic for bias reduction in simulation output, SIMULATION 69(6), 1997.

use super::Simulation;
use super::measures::Measures;
use super::timeline::Transition;
use super::write_back::WriteBack;
use crate::config::{self, WarmUp, Window};
use crate::event::{Event, EventQueue};
use crate::metrics::Mser5;
use crate::units::{SimDuration, SimTime};

/// Requests before the first check of stationarity in warm-up.
const FIRST_CHECK: u64 = 4_000;
/// Fewest requests in an automatic window.
const LEAST_WINDOW: u64 = 40_000;
/// Widest 95 % interval of the mean response time at which an automatic window ends: half width over mean. Near
/// saturation response times stay correlated over tens of thousands of requests.
const PRECISION: f64 = 0.12;
/// Volumes of the write cache that a window turns over at least, unless its dirty fraction is stationary.
const TURNOVERS: u64 = 3;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    WarmUp,
    Window,
    Draining,
    Over,
}

/// What follows from a check of the run's progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// The phase continues.
    Continue,
    /// Warm-up ends, the window begins.
    BeginWindow,
    /// The window ends.
    EndWindow,
    /// There is no more input: the phase and those that follow end.
    EndInput,
}

/// The phases of a run, from warm-up to end.
#[derive(Debug)]
pub struct RunControl {
    warm_up: WarmUp,
    window: Window,
    max_requests: u64,
    /// Capacity of the write cache, if there is one \[sectors\].
    cache_sectors: Option<u64>,
    phase: Phase,
    /// Reads and writes that have completed.
    completed: u64,
    /// Those that had completed when the phase began.
    phase_began: u64,
    /// Number of completions at which the phase is checked next.
    next_check: u64,
    response: Mser5,
    dirty: Mser5,
    /// Whether the automatic rules were met.
    pub is_stationary: bool,
    /// Whether the backlog of an open load has outgrown its limit.
    pub is_backlogged: bool,
    /// Whether an array lost data before the window ended.
    pub has_failed: bool,
    /// Requests of the warm-up.
    pub warm_up_requests: u64,
    /// Length of the warm-up.
    pub warm_up_time: SimDuration,
}

impl RunControl {
    /// The phases of `run`, on a controller whose write cache has `cache_sectors`.
    pub fn new(run: &config::Run, workload: &config::Workload, cache_sectors: Option<u64>) -> Self {
        let (mut warm_up, mut window) = (run.warm_up, run.window.clone());
        if let Window::Phase(name) = &run.window
            && let Some((begin, Some(length))) = workload.phase(name)
        {
            (warm_up, window) = (WarmUp::Duration(begin), Window::Duration(length));
        }
        Self {
            warm_up,
            window,
            max_requests: run.max_requests,
            cache_sectors,
            phase: Phase::WarmUp,
            completed: 0,
            phase_began: 0,
            next_check: match warm_up {
                WarmUp::Auto => FIRST_CHECK,
                WarmUp::Requests(count) => count,
                WarmUp::None | WarmUp::Duration(_) => u64::MAX,
            },
            response: Mser5::new(),
            dirty: Mser5::new(),
            is_stationary: true,
            is_backlogged: false,
            has_failed: false,
            warm_up_requests: 0,
            warm_up_time: SimDuration::ZERO,
        }
    }

    /// Reads and writes that have completed.
    pub const fn completed(&self) -> u64 {
        self.completed
    }

    /// Whether the hosts are silent because the run only drains the write cache.
    #[inline]
    pub fn is_draining(&self) -> bool {
        self.phase == Phase::Draining
    }

    /// Starts the first phase.
    pub fn start(&mut self, events: &mut EventQueue) -> Step {
        match self.warm_up {
            WarmUp::None | WarmUp::Requests(0) => return Step::BeginWindow,
            WarmUp::Duration(length) => events.schedule(SimTime::ZERO + length, Event::Clock),
            WarmUp::Auto | WarmUp::Requests(_) => {}
        }
        Step::Continue
    }

    /// Counts a read or write that has completed; returns whether the phase has to be checked.
    #[inline]
    pub fn count(&mut self, response: SimDuration, back: Option<&WriteBack>) -> bool {
        self.completed += 1;
        if self.warm_up == WarmUp::Auto || self.window == Window::Auto {
            self.response.push(response.as_micros_f64());
            if let Some(back) = back {
                self.dirty.push(f64::from(back.cache.used()));
            }
        }
        self.completed >= self.next_check
    }

    /// Checks the phase.
    pub fn check(&mut self, measures: &Measures) -> Step {
        let in_phase = self.completed - self.phase_began;
        match (self.phase, self.warm_up, &self.window) {
            (Phase::WarmUp, WarmUp::Auto, _) => {
                let is_late = self.completed * 2 > self.max_requests;
                let is_settled = self.response.is_stationary() && self.is_dirty_stationary();
                if is_settled || is_late {
                    self.is_stationary &= is_settled;
                    return Step::BeginWindow;
                }
                self.next_check = self.completed + in_phase / 2;
                Step::Continue
            }
            (Phase::WarmUp, _, _) => Step::BeginWindow,
            (Phase::Window, _, Window::Auto) => {
                let accepted = measures.counts.accepted_sectors;
                let turned_over = self.cache_sectors.is_none_or(|volume| accepted >= TURNOVERS * volume);
                let is_settled = self.response.is_stationary() && (turned_over || self.is_dirty_stationary());
                let is_late = self.completed >= self.max_requests;
                if (is_settled && is_precise(measures)) || is_late {
                    self.is_stationary &= is_settled;
                    return Step::EndWindow;
                }
                self.next_check = (self.completed + in_phase / 2).min(self.max_requests);
                Step::Continue
            }
            (Phase::Window, _, _) => Step::EndWindow,
            (Phase::Draining | Phase::Over, _, _) => {
                self.next_check = u64::MAX;
                Step::Continue
            }
        }
    }

    fn is_dirty_stationary(&self) -> bool {
        self.cache_sectors.is_none() || self.dirty.is_stationary()
    }

    /// No replay is left; the input is over or not. The window over a whole trace ends with its last completion,
    /// whatever synthetic streams run beside it; without a trace, with that of the last stream. So does a run that waits for
    /// more requests than there are.
    #[inline]
    pub fn end_replays(&self, has_replays: bool, is_input_over: impl Fn() -> bool) -> Step {
        match (self.phase, self.warm_up, &self.window) {
            (Phase::Window, _, Window::Whole) if has_replays || is_input_over() => Step::EndWindow,
            (Phase::WarmUp, WarmUp::Requests(_), _) | (Phase::Window, _, Window::Requests(_))
                if is_input_over() =>
            {
                Step::EndInput
            }
            _ => Step::Continue,
        }
    }

    /// The timed warm-up or window is over.
    fn end_time(&self) -> Step {
        match self.phase {
            Phase::WarmUp => Step::BeginWindow,
            Phase::Window => Step::EndWindow,
            Phase::Draining | Phase::Over => Step::Continue,
        }
    }

    fn begin_window(&mut self, events: &mut EventQueue) {
        let now = events.now();
        self.phase = Phase::Window;
        self.phase_began = self.completed;
        self.warm_up_requests = self.completed;
        self.warm_up_time = now.since(SimTime::ZERO);
        self.response.clear();
        self.dirty.clear();
        self.next_check = match self.window {
            Window::Auto => {
                let last = self.max_requests.max(self.completed + 1);
                self.completed.saturating_add(LEAST_WINDOW).min(last)
            }
            Window::Requests(count) => self.completed.saturating_add(count),
            Window::Whole | Window::Phase(_) => u64::MAX,
            Window::Duration(length) => {
                events.schedule(now + length, Event::Clock);
                u64::MAX
            }
        };
    }
}

fn is_precise(measures: &Measures) -> bool {
    let batches = &measures.batches;
    let (Some(mean), Some(width)) = (batches.mean(), batches.half_width_95()) else { return false };
    width <= PRECISION * mean
}

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
        if self.control.count(response, self.write_back.as_ref()) {
            let step = self.control.check(&self.context.measures);
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
