//! Whether a phase of a run has come to a steady state: its response times, and the contents of the write cache.
//!
//! A write cache between water marks repeats a cycle: it fills to the high mark and destages down to the low one. With a
//! large cache a cycle takes hundreds of thousands of requests, responses differ between its two parts, and a mean over
//! anything but whole cycles is biased. A *turn* is the rise of the occupancy above three quarters of the band between the
//! marks after it was below one quarter; phases with few turns begin and end at one.
//!
//! Contents that do not turn (linear threshold, idle time, a load that keeps the cache full, an age limit) are steady if
//! they do not move, if they swing at least three times through the middle half of their own range, or if as much is destaged
//! as becomes dirty.

use crate::metrics::{Mser5, Swings};
use crate::simulation::marks::Marks;

/// Turns of the write cache from which on a phase need not end at one: part of a cycle is then within the interval.
const MANY_TURNS: u64 = 20;
/// Swings that tell a steady series from a trend and from part of a cycle.
const LEAST_SWINGS: u64 = 3;
/// Difference between what became dirty and what was destaged, in parts of the latter, up to which they are balanced.
const IMBALANCE: f64 = 0.1;
/// The band between the water marks, so many times, that a balance has to cover.
const LEAST_BANDS: f64 = 2.0;

/// Sectors that became dirty and that were destaged in a phase.
#[derive(Clone, Copy, Debug, Default)]
pub struct Flow {
    /// Sectors that became dirty.
    pub dirtied: u64,
    /// Sectors that were destaged.
    pub destaged: u64,
}

impl Flow {
    /// Whether as much was destaged as became dirty, over several times the band between `marks`: less than that may be
    /// the way up to the high mark and part of the way back.
    fn is_balanced(self, marks: Marks) -> bool {
        let (dirtied, destaged) = (self.dirtied as f64, self.destaged as f64);
        dirtied >= LEAST_BANDS * marks.width() * marks.line as f64
            && (dirtied - destaged).abs() <= IMBALANCE * destaged
    }
}

/// State of the contents of a write cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Contents {
    /// They do not move, swing by themselves, or have turned often; or there is no write cache.
    Steady,
    /// They turn, and the phase has to begin and end at a turn.
    Turning,
    /// They grow, shrink, or have shown part of a cycle.
    Unsteady,
}

/// What the steady state of a phase is judged by.
#[derive(Debug)]
pub struct Steadiness {
    response: Mser5,
    cache: Option<CacheSeries>,
    /// Requests of the phase.
    requests: u64,
}

#[derive(Debug)]
struct CacheSeries {
    marks: Marks,
    used: Mser5,
    turns: Swings,
    /// Requests of the phase at its last turn.
    last_turn: u64,
    /// Requests between the last two turns of the run; 0 before the second.
    cycle: u64,
    /// Requests since the last turn of the run.
    since_turn: u64,
    has_turned: bool,
}

impl Steadiness {
    /// Nothing seen, behind a write cache with `marks`, if there is one.
    pub fn new(marks: Option<Marks>) -> Self {
        let cache = marks.map(|marks| CacheSeries {
            marks,
            used: Mser5::new(),
            turns: marks.turns(),
            last_turn: 0,
            cycle: 0,
            since_turn: 0,
            has_turned: false,
        });
        Self { response: Mser5::new(), cache, requests: 0 }
    }

    /// Appends a request with its response time and the used lines of the write cache; returns whether the phase may end
    /// here because the cache turns.
    #[inline]
    pub fn push(&mut self, response_us: f64, used: Option<u32>) -> bool {
        self.requests += 1;
        self.response.push(response_us);
        let (Some(cache), Some(used)) = (&mut self.cache, used) else { return false };
        cache.used.push(f64::from(used));
        cache.since_turn += 1;
        if !cache.turns.push(f64::from(used)) {
            return false;
        }
        if cache.has_turned {
            cache.cycle = cache.since_turn;
        }
        (cache.has_turned, cache.since_turn, cache.last_turn) = (true, 0, self.requests);
        cache.turns.count() < MANY_TURNS
    }

    /// Begins the next phase.
    pub fn restart(&mut self) {
        self.requests = 0;
        self.response.clear();
        if let Some(cache) = &mut self.cache {
            cache.used.clear();
            cache.turns.restart();
            cache.last_turn = 0;
        }
    }

    /// Turns in the phase.
    pub fn turns(&self) -> u64 {
        self.cache.as_ref().map_or(0, |cache| cache.turns.count())
    }

    /// Requests of the last whole cycle of the write cache; 0 if none was seen.
    pub fn cycle(&self) -> u64 {
        self.cache.as_ref().map_or(0, |cache| cache.cycle)
    }

    /// Whether response times are steady. The two parts of a cycle differ, which MSER takes for a transient if there are
    /// few cycles; several swings are not a trend either.
    pub fn is_response_steady(&self) -> bool {
        self.response.is_stationary()
            || (self.turns() > 0
                && Swings::of(self.response.sums()).is_none_or(|swings| swings >= LEAST_SWINGS))
    }

    /// State of the write cache after the `flow` of the phase, where a run has at most `most` requests.
    pub fn contents(&self, most: u64, flow: Flow) -> Contents {
        let Some(cache) = &self.cache else { return Contents::Steady };
        let turns = cache.turns.count();
        if turns >= MANY_TURNS {
            return Contents::Steady;
        }
        if turns > 0 && 2 * cache.last_turn > self.requests {
            return Contents::Turning;
        }
        let sums = cache.used.sums();
        let swings = |part| Swings::of(part).is_none_or(|swings| swings >= LEAST_SWINGS);
        let rests = !sums.is_empty() && (swings(sums) || swings(&sums[sums.len() / 2..]));
        // A footprint that is almost all dirty hardly grows further, and never reaches the mark.
        let is_far = cache.requests_to_high().is_some_and(|requests| requests > 2.0 * most as f64);
        if rests || is_far || flow.is_balanced(cache.marks) { Contents::Steady } else { Contents::Unsteady }
    }

    /// Requests, about, of a run that sees the cycles that it needs; `None` if no cycle is in sight.
    pub fn requests_needed(&self) -> Option<u64> {
        const CYCLES: f64 = 6.0;
        let cache = self.cache.as_ref()?;
        if cache.cycle > 0 {
            return Some((CYCLES * cache.cycle as f64) as u64);
        }
        // Destage takes about as long as filling, if not less.
        let growth = cache.growth()?.abs();
        (growth > 0.0).then(|| (CYCLES * 2.0 * cache.marks.width() / growth) as u64)
    }
}

impl CacheSeries {
    /// Lines by which the contents grew per request in the second half of the phase.
    fn growth(&self) -> Option<f64> {
        let sums = &self.used.sums()[self.used.batches() / 2..];
        let (first, last) = (sums.first()?, sums.last()?);
        let batch = self.used.batch_observations() as f64;
        (sums.len() > 1).then(|| (last - first) / batch / ((sums.len() - 1) as f64 * batch))
    }

    /// Requests until destage starts, at the present growth; `None` if the contents do not grow towards the high mark.
    fn requests_to_high(&self) -> Option<f64> {
        let growth = self.growth().filter(|&growth| growth > 0.0)?;
        let used = self.used.sums().last()? / self.used.batch_observations() as f64;
        let left = f64::from(self.marks.high) - used;
        (left > 0.0).then_some(left / growth)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MARKS: Marks = Marks { low: 60, high: 100, line: 8 };
    const MOST: u64 = 1_000_000;
    const NONE: Flow = Flow { dirtied: 0, destaged: 0 };

    fn after(count: u32, used: impl Fn(u32) -> u32) -> Steadiness {
        let mut steadiness = Steadiness::new(Some(MARKS));
        for i in 0..count {
            steadiness.push(1.0, Some(used(i)));
        }
        steadiness
    }

    /// Fills from 60 to 100 lines in 4,000 requests, and destages in 1,000.
    fn saw_tooth(i: u32) -> u32 {
        let at = i % 5_000;
        if at < 4_000 { 60 + at / 100 } else { 100 - (at - 4_000) / 25 }
    }

    #[test]
    fn a_saw_tooth_turns_once_per_cycle() {
        // 3,000, 8,000, 13,000, ..: where it passes 90 lines.
        let few = after(20_000, saw_tooth);
        assert_eq!((few.turns(), few.cycle(), few.contents(MOST, NONE)), (4, 5_000, Contents::Turning));
        assert_eq!(few.requests_needed(), Some(30_000));
        assert_eq!(after(200_000, saw_tooth).contents(MOST, NONE), Contents::Steady);
    }

    #[test]
    fn part_of_a_cycle_is_not_steady() {
        for count in [500, 2_900, 4_900] {
            assert_eq!(
                after(count, |i| saw_tooth(i).min(89)).contents(MOST, NONE),
                Contents::Unsteady,
                "{count}"
            );
        }
    }

    #[test]
    fn contents_that_rest_are_steady() {
        assert_eq!(after(5_000, |_| 0).contents(MOST, NONE), Contents::Steady);
        // A full cache, after it has filled once.
        assert_eq!(after(20_000, |i| (60 + i / 50).min(120 + i % 2)).contents(MOST, NONE), Contents::Steady);
        assert_eq!(Steadiness::new(None).contents(MOST, NONE), Contents::Steady);
    }

    #[test]
    fn growth_counts_as_long_as_a_run_can_see_its_end() {
        // One line in 1,000 requests, 80 lines below the mark at the end.
        let slow = after(20_000, |i| i / 1_000);
        assert_eq!(slow.contents(MOST, NONE), Contents::Unsteady);
        assert_eq!(slow.contents(10_000, NONE), Contents::Steady);
        // 12 times 40 lines, of 1,000 requests each.
        let needed = slow.requests_needed().unwrap();
        assert!((450_000..560_000).contains(&needed), "{needed}");
    }

    #[test]
    fn balanced_flow_is_steady_however_slowly_it_drifts() {
        // 40 lines of 8 sectors between the marks: 640 sectors have to pass.
        let drifting = after(20_000, |i| 100 + i / 4_000);
        let flow = |dirtied, destaged| drifting.contents(MOST, Flow { dirtied, destaged });
        assert_eq!(flow(1_000, 950), Contents::Steady);
        assert_eq!(flow(1_000, 800), Contents::Unsteady);
        assert_eq!(flow(600, 600), Contents::Unsteady);
        assert_eq!(flow(1_000, 0), Contents::Unsteady);
    }

    #[test]
    fn a_restart_keeps_the_length_of_the_cycle() {
        let mut steadiness = after(20_000, saw_tooth);
        steadiness.restart();
        assert_eq!((steadiness.turns(), steadiness.cycle()), (0, 5_000));
    }
}
