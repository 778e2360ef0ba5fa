//! Run control: when warm-up ends, when the window ends, whether the run was stationary.
//!
//! `auto` warm-up runs until MSER-5 truncates the response times within the first half of what has completed and the
//! contents of the write cache are steady; then the window starts. An `auto` window lasts until there are enough requests,
//! the mean response time is known within 6 %, response time is stationary within the window, and the contents of the write
//! cache are steady. Where the write cache cycles between its water marks, warm-up has a whole cycle and the window at
//! least three, and both end at the same point of a cycle. A run that is not stationary within `max_requests` is reported so.
//!
//! A window that ends when its own half width is small is biased: it stops early where a run happens to see no long queue.
//! The bias grows with the square of the precision; at 12 % it is -1.3 to -2 % near saturation, at 6 % below 0.5 %.
//!
//! White: An effective truncation heuristic for bias reduction in simulation output, SIMULATION 69(6), 1997.

mod steadiness;

use super::marks::Marks;
use super::measures::Measures;
use super::write_back::WriteBack;
use crate::config::{self, WarmUp, Window};
use crate::event::{Event, EventQueue};
use crate::metrics::CycleMeans;
use crate::units::{SimDuration, SimTime};

use steadiness::{Contents, Flow, Steadiness};

/// Requests before the first check of stationarity in warm-up.
const FIRST_CHECK: u64 = 4_000;
/// Fewest requests in an automatic window.
const LEAST_WINDOW: u64 = 40_000;
/// How often the requests in the system are replaced within an automatic window, at least: the backlog of a load close to
/// what the array carries changes slowly, and seems constant in a shorter window.
const LEAST_PASSAGES: f64 = 100.0;
/// Widest 95 % interval of the mean response time at which an automatic window ends: half width over mean. Near
/// saturation response times stay correlated over tens of thousands of requests.
const PRECISION: f64 = 0.06;
/// Turns of the write cache in a warm-up: a whole cycle after the functional fill.
const WARM_UP_TURNS: u64 = 2;
/// Whole cycles of the write cache in a window, at least.
const WINDOW_CYCLES: u64 = 3;
/// Whole cycles after which a window ends whatever its precision: batches within a cycle, which alone decide, overstate the
/// error of the mean over whole cycles.
const ENOUGH_CYCLES: u64 = 6;
/// The share of `max_requests` that a warm-up may use up: one in so many.
const WARM_UP_SHARE: u64 = 2;

/// A phase of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Before the window.
    WarmUp,
    /// What is measured.
    Window,
    /// After the window, until nothing is dirty.
    Draining,
    /// The run is over.
    Over,
}

/// What did not become steady within the limit of requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unsettled {
    /// Response times.
    Response,
    /// The contents of the write cache; the requests, about, with which they would.
    Cache(Option<u64>),
    /// The input ended within the warm-up.
    Input,
}

impl Unsettled {
    /// Its name in the result column.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Response => "response",
            Self::Cache(_) => "write_cache",
            Self::Input => "input",
        }
    }

    /// Value of `max_requests`, about, that would mend it, if known.
    pub const fn requests_needed(self) -> Option<u64> {
        if let Self::Cache(needed) = self { needed } else { None }
    }
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
#[expect(clippy::struct_excessive_bools, reason = "independent findings about the run")]
pub struct RunControl {
    warm_up: WarmUp,
    window: Window,
    max_requests: u64,
    /// The phase.
    pub phase: Phase,
    /// Reads and writes that have completed.
    completed: u64,
    /// Those that had completed when the phase began.
    phase_began: u64,
    /// Number of completions at which the phase is checked next.
    pub next_check: u64,
    steadiness: Steadiness,
    /// The response times of whole cycles of the write cache, if there is one.
    cycles: Option<CycleMeans>,
    /// Whether the request that has just completed is at a turn of the write cache.
    is_at_turn: bool,
    /// Whether the automatic rules were met.
    pub is_stationary: bool,
    /// What kept the run from meeting them.
    pub unsettled: Option<Unsettled>,
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
    /// The phases of `run`, on a controller whose write cache has `marks`.
    pub fn new(run: &config::Run, workload: &config::Workload, marks: Option<Marks>) -> Self {
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
            completed: 0,
            phase_began: 0,
            next_check: match warm_up {
                WarmUp::Auto => FIRST_CHECK,
                WarmUp::Requests(count) => count,
                WarmUp::None | WarmUp::Duration(_) => u64::MAX,
            },
            steadiness: Steadiness::new(marks),
            cycles: marks.map(|marks| CycleMeans::new(marks.turns())),
            is_at_turn: false,
            is_stationary: true,
            unsettled: None,
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

    /// Half width of the 95 % interval of the mean response time of `measures` \[ns\]; `None` below 32 requests. Behind a
    /// write cache, batches within a cycle overstate it, and few cycles have a large t: the narrower of the two is the better
    /// estimate.
    pub fn half_width_95(&self, measures: &Measures) -> Option<f64> {
        let batches = measures.batches.half_width_95()?;
        let cycles = self.cycles.as_ref().and_then(|cycles| cycles.half_width(0.95, &measures.batches));
        Some(cycles.map_or(batches, |cycles| cycles.min(batches)))
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

    /// Counts a read or write that has completed and is measured; returns whether the phase has to be checked.
    #[inline]
    pub fn count(&mut self, response: SimDuration, back: Option<&WriteBack>, measures: &Measures) -> bool {
        self.completed += 1;
        if let (Some(cycles), Some(back)) = (&mut self.cycles, back) {
            cycles.push(f64::from(back.cache.used()), &measures.batches);
        }
        if self.warm_up == WarmUp::Auto || self.window == Window::Auto {
            let used = back.map(|back| back.cache.used());
            self.is_at_turn = self.steadiness.push(response.as_micros_f64(), used);
        }
        self.completed >= self.next_check || self.is_at_turn
    }

    /// Checks the phase.
    pub fn check(&mut self, now: SimTime, measures: &Measures) -> Step {
        let is_due = self.completed >= self.next_check;
        match (self.phase, self.warm_up, &self.window) {
            (Phase::WarmUp, WarmUp::Auto, _) => self.check_warm_up(flow_of(measures)),
            (Phase::Window, _, Window::Auto) => self.check_window(now, measures),
            // Only a turn of the cache, which the rules of this phase do not look at.
            (Phase::WarmUp | Phase::Window, _, _) if !is_due => Step::Continue,
            (Phase::WarmUp, _, _) => Step::BeginWindow,
            (Phase::Window, _, _) => Step::EndWindow,
            (Phase::Draining | Phase::Over, _, _) => {
                self.next_check = u64::MAX;
                Step::Continue
            }
        }
    }

    fn check_warm_up(&mut self, flow: Flow) -> Step {
        let limit = self.max_requests / WARM_UP_SHARE;
        if self.completed < FIRST_CHECK.min(limit) {
            return Step::Continue;
        }
        let is_late = self.completed >= limit;
        let is_settled = match self.steadiness.contents(self.max_requests, flow) {
            Contents::Steady => self.steadiness.is_response_steady(),
            // There is no room for a second turn if the first took a large part of the limit. Responses are those of
            // different parts of a cycle: the window judges them.
            Contents::Turning => {
                self.is_at_turn && (self.steadiness.turns() >= WARM_UP_TURNS || self.completed * 2 > limit)
            }
            Contents::Unsteady => false,
        };
        if is_settled || is_late {
            if !is_settled && self.window != Window::Auto {
                self.report_unsettled(flow);
            }
            return Step::BeginWindow;
        }
        self.schedule_check(limit);
        Step::Continue
    }

    fn check_window(&mut self, now: SimTime, measures: &Measures) -> Step {
        let (in_phase, flow) = (self.completed - self.phase_began, flow_of(measures));
        let is_late = self.completed >= self.max_requests;
        let least = LEAST_WINDOW.max((LEAST_PASSAGES * in_system(now, measures)) as u64);
        let is_enough = in_phase >= least && is_precise(measures);
        let cycles = self.steadiness.turns();
        let (is_settled, may_end) = match self.steadiness.contents(self.max_requests, flow) {
            Contents::Steady => (self.steadiness.is_response_steady(), is_enough),
            Contents::Turning => {
                let cycle = self.steadiness.cycle();
                // A window that began before the first turn has seen part of the cycle that ends here.
                let is_whole = self.is_at_turn && in_phase >= least.max(cycle);
                let is_last = self.completed + cycle > self.max_requests;
                let is_long = (is_enough && cycles >= WINDOW_CYCLES) || cycles >= ENOUGH_CYCLES;
                (
                    is_whole && (is_last || self.steadiness.is_response_steady()),
                    is_whole && (is_last || is_long),
                )
            }
            Contents::Unsteady => (false, false),
        };
        if (is_settled && may_end) || is_late {
            if !is_settled {
                self.report_unsettled(flow);
            }
            return Step::EndWindow;
        }
        self.schedule_check(self.max_requests);
        Step::Continue
    }

    /// Checks again when half as much again has completed, or at `limit`; sooner if the write cache turns.
    fn schedule_check(&mut self, limit: u64) {
        if self.completed >= self.next_check {
            let in_phase = self.completed - self.phase_began;
            self.next_check = (self.completed + in_phase / 2).min(limit).max(self.completed + 1);
        }
    }

    /// The phase ends without having met the rules.
    fn report_unsettled(&mut self, flow: Flow) {
        self.is_stationary = false;
        self.unsettled = Some(match self.steadiness.contents(self.max_requests, flow) {
            Contents::Steady => Unsettled::Response,
            Contents::Turning | Contents::Unsteady => Unsettled::Cache(self.steadiness.requests_needed()),
        });
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
    pub fn end_time(&self) -> Step {
        match self.phase {
            Phase::WarmUp => Step::BeginWindow,
            Phase::Window => Step::EndWindow,
            Phase::Draining | Phase::Over => Step::Continue,
        }
    }

    /// Ends the warm-up.
    pub fn begin_window(&mut self, events: &mut EventQueue) {
        let now = events.now();
        self.phase = Phase::Window;
        self.phase_began = self.completed;
        self.warm_up_requests = self.completed;
        self.warm_up_time = now.since(SimTime::ZERO);
        self.steadiness.restart();
        if let Some(cycles) = &mut self.cycles {
            cycles.restart();
        }
        self.is_at_turn = false;
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

/// What became dirty and what was destaged in the phase.
const fn flow_of(measures: &Measures) -> Flow {
    let counts = &measures.counts;
    Flow {
        dirtied: counts.accepted_sectors.saturating_sub(counts.absorbed_sectors),
        destaged: counts.destaged_sectors,
    }
}

/// Mean number of requests in the system, by Little's law.
fn in_system(now: SimTime, measures: &Measures) -> f64 {
    let elapsed = now.since(measures.start).0 as f64;
    let responses = measures.batches.mean().unwrap_or(0.0) * measures.batches.count() as f64;
    if elapsed > 0.0 { responses / elapsed } else { 0.0 }
}

fn is_precise(measures: &Measures) -> bool {
    let batches = &measures.batches;
    let (Some(mean), Some(width)) = (batches.mean(), batches.half_width_95()) else { return false };
    width <= PRECISION * mean
}
