//! The conduct of a run: when warm-up ends, when the window ends, whether the run was stationary.
//!
//! `auto` warm-up runs until MSER-5 truncates both the response times and the dirty fraction within the first half of
//! what has been seen; then the window starts afresh. `auto` window goes on until there are enough requests, the mean
//! response time is known within 12 %, response time is stationary within the window, and the write cache has turned
//! over three times or its dirty fraction is stationary. A run that is not stationary within `max_requests` says so.
//!
//! White: An effective truncation heuristic for bias reduction in simulation output, SIMULATION 69(6), 1997.

use super::Simulation;
use super::timeline::Transition;
use crate::config::{self, WarmUp, Window};
use crate::event::Event;
use crate::metrics::Mser5;
use crate::units::{SimDuration, SimTime};

/// Requests before the first look at stationarity in warm-up.
const FIRST_LOOK: u64 = 4_000;
/// Least requests in an automatic window.
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

/// Where the run stands between warm-up and end.
#[derive(Debug)]
pub(super) struct Conduct {
    warm_up: WarmUp,
    window: Window,
    max_requests: u64,
    phase: Phase,
    /// Requests completed in all, and when the phase began.
    seen: u64,
    phase_began: u64,
    next_look: u64,
    response: Mser5,
    dirty: Mser5,
    /// Whether the automatic rules were met.
    pub is_stationary: bool,
    /// Whether an open load has left the array behind.
    is_backlogged: bool,
    /// Whether an array has lost data before the window ended.
    pub has_failed: bool,
    /// Requests of the warm-up.
    pub warm_up_requests: u64,
    /// Length of the warm-up.
    pub warm_up_time: SimDuration,
}

impl Conduct {
    pub fn new(run: &config::Run, workload: &config::Workload) -> Self {
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
            phase: Phase::WarmUp,
            seen: 0,
            phase_began: 0,
            next_look: match warm_up {
                WarmUp::Auto => FIRST_LOOK,
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

    /// Reads and writes completed so far.
    pub const fn seen(&self) -> u64 {
        self.seen
    }
}

impl Simulation {
    /// Starts the first phase.
    pub(super) fn start_conduct(&mut self) {
        match self.conduct.warm_up {
            WarmUp::None | WarmUp::Requests(0) => self.begin_window(),
            WarmUp::Duration(length) => {
                self.events.schedule(SimTime::ZERO + length, Event::Clock);
            }
            WarmUp::Auto | WarmUp::Requests(_) => {}
        }
    }

    /// Whether the run is over.
    pub(super) fn is_over(&self) -> bool {
        match self.conduct.phase {
            Phase::Over => true,
            Phase::Draining => {
                self.outstanding == 0 && self.write_back.as_ref().is_none_or(|back| back.cache.used() == 0)
            }
            Phase::WarmUp | Phase::Window => false,
        }
    }

    /// A read or write is over.
    #[inline]
    pub(super) fn observe(&mut self, response: SimDuration) {
        let conduct = &mut self.conduct;
        conduct.seen += 1;
        if conduct.warm_up == WarmUp::Auto || conduct.window == Window::Auto {
            conduct.response.push(response.as_micros_f64());
            if let Some(back) = &self.write_back {
                conduct.dirty.push(f64::from(back.cache.used()));
            }
        }
        if conduct.seen >= conduct.next_look {
            self.look();
        }
    }

    /// The window over a whole trace ends with its last completion, whatever synthetic streams run beside it; without a
    /// trace, with that of the last stream. So does a run that waits for more requests than there are.
    #[inline]
    pub(super) fn finish_if_input_over(&mut self) {
        if self.replays_left > 0 {
            return;
        }
        match (self.conduct.phase, self.conduct.warm_up, &self.conduct.window) {
            (Phase::Window, _, Window::Whole) if self.has_replays || self.is_input_over() => {
                self.finish_window();
            }
            (Phase::WarmUp, WarmUp::Requests(_), _) | (Phase::Window, _, Window::Requests(_))
                if self.is_input_over() =>
            {
                self.finish_early();
            }
            _ => {}
        }
    }

    /// The input has ended before the window did.
    pub(super) fn finish_early(&mut self) {
        match self.conduct.phase {
            Phase::WarmUp => {
                // There is nothing left to measure.
                self.conduct.is_stationary = false;
                self.begin_window();
                self.finish_window();
            }
            Phase::Window => self.finish_window(),
            Phase::Draining | Phase::Over => self.conduct.phase = Phase::Over,
        }
    }

    /// Whether the hosts are silent because the run only drains what is dirty.
    pub(super) fn is_draining(&self) -> bool {
        self.conduct.phase == Phase::Draining
    }

    /// The backlog of an open load has outgrown every limit: the run ends.
    pub(super) fn give_up_on_backlog(&mut self) {
        self.conduct.is_backlogged = true;
        if self.conduct.phase == Phase::WarmUp {
            self.begin_window();
        }
        self.conduct.phase = Phase::Over;
        self.end_window();
    }

    /// An array has lost data: the run ends. Requests to that array that are under way have failed.
    pub(super) fn end_by_array_failure(&mut self, array: u16) {
        if matches!(self.conduct.phase, Phase::Draining | Phase::Over) {
            self.conduct.phase = Phase::Over;
            return;
        }
        if self.conduct.phase == Phase::WarmUp {
            self.begin_window();
        }
        self.conduct.has_failed = true;
        self.conduct.phase = Phase::Over;
        let failed = self.requests.iter().filter(|request| request.array == array).count();
        self.measures.counts.failed_requests = failed as u64;
        self.timeline.note(self.now, Transition::WindowEnds, "", 0.0);
        self.end_window();
    }

    fn look(&mut self) {
        let conduct = &mut self.conduct;
        let in_phase = conduct.seen - conduct.phase_began;
        match (conduct.phase, conduct.warm_up, &conduct.window) {
            (Phase::WarmUp, WarmUp::Auto, _) => {
                let is_late = conduct.seen * 2 > conduct.max_requests;
                let is_settled = conduct.response.is_stationary() && self.is_dirty_stationary();
                if is_settled || is_late {
                    self.conduct.is_stationary &= is_settled;
                    self.begin_window();
                } else {
                    self.conduct.next_look = self.conduct.seen + in_phase / 2;
                }
            }
            (Phase::WarmUp, _, _) => self.begin_window(),
            (Phase::Window, _, Window::Auto) => {
                let turned_over = self.write_back.as_ref().is_none_or(|back| {
                    let volume = u64::from(back.cache.capacity()) * self.line_sectors;
                    self.measures.counts.accepted_sectors >= TURNOVERS * volume
                });
                let is_settled =
                    self.conduct.response.is_stationary() && (turned_over || self.is_dirty_stationary());
                let is_late = self.conduct.seen >= self.conduct.max_requests;
                if (is_settled && self.is_precise()) || is_late {
                    self.conduct.is_stationary &= is_settled;
                    self.finish_window();
                } else {
                    self.conduct.next_look =
                        (self.conduct.seen + in_phase / 2).min(self.conduct.max_requests);
                }
            }
            (Phase::Window, _, _) => self.finish_window(),
            (Phase::Draining | Phase::Over, _, _) => self.conduct.next_look = u64::MAX,
        }
    }

    fn is_dirty_stationary(&self) -> bool {
        self.write_back.is_none() || self.conduct.dirty.is_stationary()
    }

    fn is_precise(&self) -> bool {
        let batches = &self.measures.batches;
        let (Some(mean), Some(width)) = (batches.mean(), batches.half_width_95()) else { return false };
        width <= PRECISION * mean
    }

    /// Notes the phases of the workload as they come.
    pub(super) fn start_timeline(&mut self) {
        if !self.scenario.workload.phases.is_empty() {
            self.on_phase(0);
        }
    }

    /// A phase begins, or the last one has ended.
    pub(super) fn on_phase(&mut self, index: u32) {
        let phases = &self.scenario.workload.phases;
        let before = (index as usize).checked_sub(1).map(|before| &phases[before]);
        if let Some(phase) = before {
            self.timeline.note(self.now, Transition::PhaseEnds, &phase.name, 0.0);
        }
        let Some(phase) = phases.get(index as usize) else { return };
        self.timeline.note(self.now, Transition::PhaseBegins, &phase.name, 0.0);
        if let Some(lasts) = phase.lasts {
            self.events.schedule(self.now + lasts, Event::Phase(index + 1));
        }
    }

    fn begin_window(&mut self) {
        let now = self.now;
        let conduct = &mut self.conduct;
        conduct.phase = Phase::Window;
        conduct.phase_began = conduct.seen;
        conduct.warm_up_requests = conduct.seen;
        conduct.warm_up_time = now.since(SimTime::ZERO);
        conduct.response.clear();
        conduct.dirty.clear();
        conduct.next_look = match conduct.window {
            Window::Auto => {
                conduct.seen.saturating_add(LEAST_WINDOW).min(conduct.max_requests.max(conduct.seen + 1))
            }
            Window::Requests(count) => conduct.seen.saturating_add(count),
            Window::Whole | Window::Phase(_) => u64::MAX,
            Window::Duration(length) => {
                self.events.schedule(now + length, Event::Clock);
                u64::MAX
            }
        };
        self.timeline.note(now, Transition::WindowBegins, "", 0.0);
        self.start_window();
    }

    fn finish_window(&mut self) {
        self.conduct.next_look = u64::MAX;
        self.timeline.note(self.now, Transition::WindowEnds, "", 0.0);
        self.end_window();
        if !self.scenario.run.drain {
            self.conduct.phase = Phase::Over;
            return;
        }
        self.conduct.phase = Phase::Draining;
        self.at_window_end = Some(self.window_end());
        self.update_draining();
        self.destage_if_due();
    }

    /// The timed warm-up or window is over.
    pub(super) fn on_clock(&mut self) {
        match self.conduct.phase {
            Phase::WarmUp => {
                self.begin_window();
                self.finish_if_input_over();
            }
            Phase::Window => self.finish_window(),
            Phase::Draining | Phase::Over => {}
        }
    }
}

/// Requests of open loads that may be under way at a time; with more they have left the array behind.
pub(super) const LARGEST_BACKLOG: usize = 100_000;

/// An open load is refused as an answer when the backlog at its end takes this share of its time to work off.
const BACKLOG_SHARE: f64 = 0.05;

impl Simulation {
    /// Whether an open load outran the array: its backlog has outgrown every limit, or a replay ended long after its
    /// last arrival.
    pub(super) fn is_overloaded(&self) -> bool {
        self.conduct.is_backlogged
            || self.sources.iter().any(|source| {
                source.open_end().is_some_and(|(end, late)| {
                    let late = late.as_secs_f64();
                    late > BACKLOG_SHARE * end.since(SimTime::ZERO).as_secs_f64() && late > 1.0
                })
            })
    }
}
