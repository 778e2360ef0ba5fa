//! The pace of a source: its start and end, and a clock that runs at the intensity of the phase.

use std::sync::Arc;

use crate::config::{Activity, Workload};
use crate::units::{SimDuration, SimTime};

/// A part of the timeline with an intensity that is linear in time.
#[derive(Clone, Copy, Debug)]
struct Segment {
    begin: u64,
    end: u64,
    /// Intensity at its begin and end.
    from: f64,
    to: f64,
}

impl Segment {
    /// Whether the clock runs at the speed of simulated time; times are then exact integers.
    fn is_even(&self) -> bool {
        self.from.total_cmp(&1.0).is_eq() && self.to.total_cmp(&1.0).is_eq()
    }

    fn is_silent(&self) -> bool {
        self.from <= 0.0 && self.to <= 0.0
    }

    /// The intensity at time `at`.
    fn intensity(&self, at: u64) -> f64 {
        let share = (at - self.begin) as f64 / (self.end - self.begin) as f64;
        self.from + (self.to - self.from) * share
    }
}

/// The clock of a stream, which runs `intensity` times as fast as simulated time.
#[derive(Clone, Debug)]
pub struct Clock {
    /// In order and without gaps, from 0 to the end of time.
    segments: Box<[Segment]>,
}

impl Clock {
    /// The clock of a stream that is `active` on the timeline of `workload`.
    pub fn new(workload: &Workload, active: &[Activity]) -> Self {
        let mut begin = 0;
        let mut segments = Vec::new();
        for phase in &workload.phases {
            let end = phase.lasts.map_or(u64::MAX, |lasts| begin + lasts.0);
            let activity = active.iter().find(|activity| activity.phase == phase.name);
            let from = activity.map_or(0.0, |activity| activity.intensity);
            let to = activity.and_then(|activity| activity.ramp_to).unwrap_or(from);
            segments.push(Segment { begin, end, from, to });
            begin = end;
        }
        if begin < u64::MAX {
            segments.push(Segment { begin, end: u64::MAX, from: 0.0, to: 0.0 });
        }
        Self { segments: segments.into() }
    }

    /// The time at which the clock has advanced by `gap` from `now`; none if it stops for good before.
    ///
    /// The integral of the intensity from `now` up to that time is `gap`, which turns a Poisson process of rate r into one
    /// of rate r x intensity (Cinlar: Introduction to Stochastic Processes, 1975, section 4.7).
    fn after(&self, now: SimTime, gap: SimDuration) -> Option<SimTime> {
        let first = self.segments.partition_point(|segment| segment.end <= now.0);
        let mut left = gap.0;
        for segment in &self.segments[first..] {
            if segment.is_silent() {
                continue;
            }
            let at = segment.begin.max(now.0);
            let room = segment.end - at;
            if segment.is_even() {
                if left < room {
                    return Some(SimTime(at + left));
                }
                left -= room;
                continue;
            }
            let (begins, ends) = (segment.intensity(at), segment.to);
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
            return Some(SimTime(at.saturating_add((passed + 0.5) as u64).min(segment.end - 1)));
        }
        None
    }
}

/// The pace of a source.
#[derive(Clone, Debug)]
pub struct Pace {
    clock: Option<Arc<Clock>>,
    /// When it starts; none if its clock stops before.
    start: Option<SimTime>,
    /// When it ends, if it does.
    end: Option<SimTime>,
    /// Interactions left, if limited.
    interactions: Option<u32>,
}

impl Pace {
    /// The pace of a source that starts `delay` after the clock of its stream, runs for `lasts`, and has a limited number of
    /// interactions, each if given.
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

    /// The end of a gap that begins at `now`; none if the source ends before.
    pub fn after(&self, now: SimTime, gap: SimDuration) -> Option<SimTime> {
        if self.interactions == Some(0) {
            return None;
        }
        let next = self.advance(now, gap)?;
        (self.end.is_none_or(|end| next < end)).then_some(next)
    }

    /// The end of the first gap of the source, if the hosts start at `now`.
    pub fn first_after(&self, now: SimTime, gap: SimDuration) -> Option<SimTime> {
        self.after(self.start?.max(now), gap)
    }

    /// The speed of its clock, on average over the first part of the timeline.
    pub fn first_intensity(&self) -> f64 {
        let segment = self.clock.as_ref().map(|clock| clock.segments[0]);
        segment.map_or(1.0, |segment| f64::midpoint(segment.from, segment.to))
    }

    /// Counts a completed interaction.
    pub fn count_interaction(&mut self) {
        if let Some(left) = &mut self.interactions {
            *left -= 1;
        }
    }

    /// Whether the source runs from time 0 on.
    pub fn is_awake(&self) -> bool {
        self.start == Some(SimTime::ZERO) && self.advance(SimTime::ZERO, SimDuration::ZERO) == self.start
    }
}
