//! When a source runs: its start and end, and a clock that goes at the intensity of the phase.

use std::sync::Arc;

use crate::config::{Activity, Workload};
use crate::units::{SimDuration, SimTime};

/// A stretch of the timeline over which the intensity is linear in time.
#[derive(Clone, Copy, Debug)]
struct Stretch {
    begin: u64,
    end: u64,
    /// Intensity at its begin and end.
    from: f64,
    to: f64,
}

impl Stretch {
    /// Whether the clock goes with the run's: times are then whole numbers throughout.
    fn is_even(&self) -> bool {
        self.from.total_cmp(&1.0).is_eq() && self.to.total_cmp(&1.0).is_eq()
    }

    fn is_silent(&self) -> bool {
        self.from <= 0.0 && self.to <= 0.0
    }

    /// The intensity at `at`.
    fn intensity(&self, at: u64) -> f64 {
        let share = (at - self.begin) as f64 / (self.end - self.begin) as f64;
        self.from + (self.to - self.from) * share
    }
}

/// The clock of a stream, which goes `intensity` times as fast as the run's.
#[derive(Clone, Debug)]
pub struct Clock {
    /// In order and without gaps, from 0 to the end of all time.
    stretches: Box<[Stretch]>,
}

impl Clock {
    /// The clock of a stream that is `active` on the timeline of `workload`.
    pub fn new(workload: &Workload, active: &[Activity]) -> Self {
        let mut begin = 0;
        let mut stretches = Vec::new();
        for phase in &workload.phases {
            let end = phase.lasts.map_or(u64::MAX, |lasts| begin + lasts.0);
            let activity = active.iter().find(|activity| activity.phase == phase.name);
            let from = activity.map_or(0.0, |activity| activity.intensity);
            let to = activity.and_then(|activity| activity.ramp_to).unwrap_or(from);
            stretches.push(Stretch { begin, end, from, to });
            begin = end;
        }
        if begin < u64::MAX {
            stretches.push(Stretch { begin, end: u64::MAX, from: 0.0, to: 0.0 });
        }
        Self { stretches: stretches.into() }
    }

    /// When the clock has gone on by `gap` from `now`, a moment at which it goes; never where it stops for good before.
    ///
    /// The moment solves the integral of the intensity from `now` = `gap`, which makes a Poisson process of rate r one
    /// of rate r x intensity (Cinlar: Introduction to Stochastic Processes, 1975, section 4.7).
    fn after(&self, now: SimTime, gap: SimDuration) -> Option<SimTime> {
        let first = self.stretches.partition_point(|stretch| stretch.end <= now.0);
        let mut left = gap.0;
        for stretch in &self.stretches[first..] {
            if stretch.is_silent() {
                continue;
            }
            let at = stretch.begin.max(now.0);
            let room = stretch.end - at;
            if stretch.is_even() {
                if left < room {
                    return Some(SimTime(at + left));
                }
                left -= room;
                continue;
            }
            let (begins, ends) = (stretch.intensity(at), stretch.to);
            let length = room as f64;
            let whole = 0.5 * (begins + ends) * length;
            let wanted = left as f64;
            if wanted >= whole {
                left -= (whole as u64).min(left);
                continue;
            }
            let slope = (ends - begins) / length;
            let reached = (begins * begins + 2.0 * slope * wanted).max(0.0).sqrt();
            let passed = if wanted > 0.0 { 2.0 * wanted / (begins + reached) } else { 0.0 };
            return Some(SimTime(at.saturating_add((passed + 0.5) as u64).min(stretch.end - 1)));
        }
        None
    }
}

/// When a source runs.
#[derive(Clone, Debug)]
pub struct Pace {
    clock: Option<Arc<Clock>>,
    /// When it starts; never where its clock does not come so far.
    start: Option<SimTime>,
    /// When it ends.
    end: Option<SimTime>,
    /// Interactions that are left to it, where they are numbered.
    interactions: Option<u32>,
}

impl Pace {
    /// The pace of a source that starts `delay` after its stream's clock, goes on for `lasts`, and has a number of
    /// interactions, each where it is given.
    pub fn new(
        clock: Option<Arc<Clock>>,
        delay: SimDuration,
        lasts: Option<SimDuration>,
        interactions: Option<u32>,
    ) -> Self {
        let mut pace = Self { clock, start: None, end: None, interactions };
        pace.start = pace.advance(SimTime::ZERO, delay);
        pace.end = pace.start.zip(lasts).and_then(|(start, lasts)| pace.advance(start, lasts));
        pace
    }

    fn advance(&self, now: SimTime, gap: SimDuration) -> Option<SimTime> {
        match &self.clock {
            None => Some(now + gap),
            Some(clock) => clock.after(now, gap),
        }
    }

    /// When a gap that begins now ends; never where the source ends before.
    pub fn after(&self, now: SimTime, gap: SimDuration) -> Option<SimTime> {
        if self.interactions == Some(0) {
            return None;
        }
        let next = self.advance(now, gap)?;
        (self.end.is_none_or(|end| next < end)).then_some(next)
    }

    /// When the source's first gap ends, where the hosts start at `now`.
    pub fn first_after(&self, now: SimTime, gap: SimDuration) -> Option<SimTime> {
        self.after(self.start?.max(now), gap)
    }

    /// An interaction is over.
    pub fn count_interaction(&mut self) {
        if let Some(left) = &mut self.interactions {
            *left -= 1;
        }
    }

    /// Whether the source runs from the first moment on.
    pub fn is_awake(&self) -> bool {
        self.start == Some(SimTime::ZERO) && self.advance(SimTime::ZERO, SimDuration::ZERO) == self.start
    }
}
