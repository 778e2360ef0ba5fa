//! Linear threshold: the number of destages in flight grows with occupancy; the cheapest stripes leave first.
//!
//! ```text
//!   in flight   limit ┤          ┌────      allowed = ceil(limit x (used - low) / (high - low)), 0 to limit
//!                     │       ┌──┘
//!                   0 ┼───────┘
//!                     0     low  high  used [lines]
//! ```
//!
//! Destage has no sudden start: reads meet few destages while there is room, and a burst finds room because destage
//! has already started. The cost of a stripe write per freed line falls with the dirty lines in the stripe
//! (RAID 5 of n: min(2 (k + 1), n) I/Os for k strips), so the stripes with the most dirty lines are the cheapest;
//! among equals the order is C-SCAN.
//!
//! Differs from the paper, where every disk without a read takes the destage with the least head movement if its cost is
//! below a threshold that rises linearly with occupancy. A controller does not know the head positions, so here the
//! number in flight rises linearly, and head movement is left to the drives' queues.
//! Cost: O(log n) per stripe that enters or leaves and per line that becomes dirty, n dirty stripes.
//! Not for: stripes that are rarely filled and must leave soon, since they wait while fuller ones arrive (an
//! `age_limit` bounds the wait), nor streams that also read: the stripe that is being filled is the fullest and leaves before
//! it is complete, and those with large gaps stay behind.
//!
//! Varma, Jacobson: Destage algorithms for disk arrays with nonvolatile caches, IEEE Transactions on Computers 47(2), 1998.

use std::collections::BTreeSet;
use std::ops::Bound;

use super::{DestagePolicy, Occupancy, StripeId, WaterMarks, Write};

/// Rank of a group: the largest number minus its dirty lines, so that fuller groups sort first.
type Rank = u32;

#[derive(Debug, Default)]
struct Ranking {
    stripes: BTreeSet<(Rank, u64)>,
    position: u64,
}

/// Destage of the fullest stripes, at a rate that grows with occupancy.
#[derive(Debug)]
pub struct LinearThreshold {
    arrays: Box<[Ranking]>,
    /// Dirty lines of each group.
    lines: Vec<u32>,
    low: u32,
    span: u32,
}

const fn rank(lines: u32) -> Rank {
    Rank::MAX - lines
}

impl LinearThreshold {
    /// An empty order for a number of arrays; the threshold rises between `marks`.
    pub fn new(arrays: usize, marks: WaterMarks) -> Self {
        Self {
            arrays: (0..arrays).map(|_| Ranking::default()).collect(),
            lines: Vec::new(),
            low: marks.low,
            span: (marks.high - marks.low).max(1),
        }
    }
}

impl DestagePolicy for LinearThreshold {
    fn enter(&mut self, group: u32, place: StripeId) {
        let index = group as usize;
        if index >= self.lines.len() {
            self.lines.resize(index + 1, 0);
        }
        self.lines[index] = 1;
        self.arrays[place.array as usize].stripes.insert((rank(1), place.stripe));
    }

    fn write(&mut self, group: u32, place: StripeId, write: Write) {
        let lines = &mut self.lines[group as usize];
        if *lines != write.lines {
            let stripes = &mut self.arrays[place.array as usize].stripes;
            stripes.remove(&(rank(*lines), place.stripe));
            *lines = write.lines;
            stripes.insert((rank(*lines), place.stripe));
        }
    }

    fn leave(&mut self, group: u32, place: StripeId) {
        let key = (rank(self.lines[group as usize]), place.stripe);
        self.arrays[place.array as usize].stripes.remove(&key);
    }

    fn choose(&mut self, array: u16, is_busy: impl Fn(u64) -> bool) -> Option<u64> {
        let Ranking { stripes, position } = &mut self.arrays[array as usize];
        let &(mut least, _) = stripes.first()?;
        loop {
            let ahead = stripes.range((least, *position)..=(least, u64::MAX));
            let behind = stripes.range((least, 0)..(least, *position));
            if let Some(&(_, stripe)) = ahead.chain(behind).find(|&&(_, stripe)| !is_busy(stripe)) {
                *position = stripe + 1;
                return Some(stripe);
            }
            let beyond = (Bound::Excluded((least, u64::MAX)), Bound::Unbounded);
            (least, _) = *stripes.range(beyond).next()?;
        }
    }

    #[inline]
    fn follow(&mut self, place: StripeId) -> bool {
        self.arrays[place.array as usize].position = place.stripe + 1;
        true
    }

    #[inline]
    fn allow(&mut self, occupancy: &Occupancy) -> u32 {
        if occupancy.is_stalled || occupancy.is_draining {
            return occupancy.limit;
        }
        let above = u64::from(occupancy.used.saturating_sub(self.low).min(self.span));
        (above * u64::from(occupancy.limit)).div_ceil(u64::from(self.span)) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::super::order_laws::{enter, next};
    use super::*;

    fn fill(policy: &mut LinearThreshold, stripe: u64, lines: u32) {
        let place = StripeId { array: 0, stripe };
        policy.write(stripe as u32, place, Write { lines, is_sequential: false });
    }

    #[test]
    fn the_fullest_stripes_leave_first() {
        let mut policy = LinearThreshold::new(1, WaterMarks::new(1, 0));
        enter(&mut policy, &[1, 3, 5, 7]);
        fill(&mut policy, 5, 2);
        fill(&mut policy, 3, 2);
        fill(&mut policy, 7, 3);
        assert_eq!(next(&mut policy, 1), [7]);
        assert_eq!(next(&mut policy, 2), [3, 5], "behind 7 there is nothing: from the lowest again");
        enter(&mut policy, &[6]);
        assert_eq!(next(&mut policy, 2), [6, 1], "the sweep goes on behind 5");
    }

    #[test]
    fn busy_stripes_are_skipped() {
        let mut policy = LinearThreshold::new(1, WaterMarks::new(1, 0));
        enter(&mut policy, &[1, 2, 3]);
        fill(&mut policy, 2, 4);
        assert_eq!(policy.choose(0, |stripe| stripe == 2), Some(1));
        assert_eq!(policy.choose(0, |_| true), None);
    }

    #[test]
    fn the_number_in_flight_grows_with_occupancy() {
        let mut policy = LinearThreshold::new(1, WaterMarks::new(10, 2));
        let mut allow = |used| {
            let occupancy = Occupancy {
                used,
                waiting: used,
                is_stalled: false,
                is_draining: false,
                is_idle: false,
                limit: 4,
            };
            policy.allow(&occupancy)
        };
        let allowed: Vec<_> = (0..=12).map(&mut allow).collect();
        assert_eq!(allowed, [0, 0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 4, 4]);
    }
}
