//! Segmented LRU.
//!
//! ```text
//! new entry ─► segment 0 ─ hit ─► segment 1 ─ hit ─► segment 2 ─ hit ─► segment 3
//!                  │     ◄─ full ─          ◄─ full ─          ◄─ full ─
//!                  └─► evicted
//! ```
//!
//! Each segment is an LRU. A hit moves an entry to the new end of the next segment up, whose excess entry moves
//! to the new end of the segment below. Evictions are from the lowest segment, so data used once passes only through it.
//! While the cache fills, a new entry goes to the lowest segment that has room.
//!
//! R. Karedla, J. S. Love, B. G. Wherry: Caching strategies to improve disk system performance, IEEE Computer 27(3), 1994,
//! with two segments whose sizes it leaves open; with four of equal size as here in Q. Huang, K. Birman, R. van Renesse,
//! W. Lloyd, S. Kumar, H. C. Li: An analysis of Facebook photo caching, SOSP 2013. What happens while the cache fills is
//! not specified by either.
//!
//! Parameters: `probation` \[share of the capacity\], the lowest segment, a quarter; the others share the rest equally, and
//! the remainder goes to the lowest. Cost: one search per access; a hit moves up to four entries.
//!
//! Not for data that is often used and then never again: it sinks through every segment.

use super::{Admission, BLOCK, Queues, Replace, Room};

const SEGMENTS: usize = 4;

/// Segmented LRU.
#[derive(Debug)]
pub struct Slru {
    capacity: usize,
    /// Maximum entries of each segment; together the capacity.
    most: [usize; SEGMENTS],
    segments: Queues<SEGMENTS>,
}

impl Replace for Slru {
    const PROBATION: Option<f64> = Some(0.25);

    fn new(room: Room) -> Self {
        let upper = (room.capacity - room.part(room.probation)) / (SEGMENTS - 1);
        let mut most = [upper; SEGMENTS];
        most[0] = room.capacity - upper * (SEGMENTS - 1);
        Self { capacity: room.capacity, most, segments: Queues::new() }
    }

    #[inline]
    fn held(&self) -> usize {
        self.segments.directory.len()
    }

    #[inline]
    fn find(&self, key: u64) -> Option<u32> {
        self.segments.directory.find(key)
    }

    #[inline]
    fn expect(&mut self, keys: &[u64; BLOCK]) {
        self.segments.directory.expect(keys);
    }

    #[inline]
    fn access(&mut self, key: u64) -> Option<u32> {
        let slot = self.find(key)?;
        let segment = self.segments.queue(slot);
        if segment == SEGMENTS - 1 {
            self.segments.refresh(slot, segment);
            return Some(slot);
        }
        let mut above = segment + 1;
        self.segments.transfer(slot, above);
        // The entry's former position is the lowest to which an entry above can fall.
        while above > 0
            && self.segments.len(above) > self.most[above]
            && let Some(fallen) = self.segments.pop(above)
        {
            above -= 1;
            self.segments.put(fallen, above);
        }
        Some(slot)
    }

    fn admit(&mut self, key: u64) -> Admission {
        let mut evicted = None;
        if self.held() == self.capacity {
            // All segments are full, the lowest may be of size 0.
            let lowest = (0..SEGMENTS).find(|&segment| self.segments.len(segment) > 0);
            evicted = lowest.and_then(|segment| self.segments.forget_oldest(segment));
        }
        let slot = self.segments.directory.add(key);
        let has_room = |&segment: &usize| self.segments.len(segment) < self.most[segment];
        let segment = (0..SEGMENTS).find(has_room).unwrap_or_default();
        self.segments.put(slot, segment);
        Admission { slot, evicted }
    }

    fn remove(&mut self, key: u64) -> Option<u32> {
        let slot = self.find(key)?;
        self.segments.forget(slot);
        Some(slot)
    }
}

#[cfg(test)]
mod tests {
    use super::super::checks::{Naive, check, hits};
    use super::*;

    struct Model {
        capacity: usize,
        most: Vec<usize>,
        segments: Vec<Vec<u64>>,
    }

    impl Model {
        /// Adds `key` at the new end of a segment; excess entries fall.
        fn put(&mut self, key: u64, segment: usize) {
            self.segments[segment].push(key);
            if segment > 0 && self.segments[segment].len() > self.most[segment] {
                let fallen = self.segments[segment].remove(0);
                self.put(fallen, segment - 1);
            }
        }
    }

    impl Naive for Model {
        fn new(room: Room) -> Self {
            let lowest = (room.capacity as f64 * room.probation).floor() as usize;
            let upper = (room.capacity - lowest) / 3;
            let most = vec![room.capacity - 3 * upper, upper, upper, upper];
            Self { capacity: room.capacity, most, segments: vec![Vec::new(); 4] }
        }

        fn access(&mut self, key: u64) -> bool {
            if let Some(segment) = self.segments.iter().position(|segment| segment.contains(&key)) {
                self.segments[segment].retain(|&other| other != key);
                self.put(key, (segment + 1).min(3));
                return true;
            }
            if self.held().len() == self.capacity {
                self.segments.iter_mut().find(|segment| !segment.is_empty()).unwrap().remove(0);
            }
            let segment = (0..4).find(|&index| self.segments[index].len() < self.most[index]).unwrap();
            self.put(key, segment);
            false
        }

        fn remove(&mut self, key: u64) {
            self.segments.iter_mut().for_each(|segment| segment.retain(|&other| other != key));
        }

        fn held(&self) -> Vec<u64> {
            self.segments.concat()
        }
    }

    #[test]
    fn agrees_with_lists() {
        check::<Slru, Model>();
    }

    #[test]
    fn a_scan_passes_through_the_lowest_segment_only() {
        // 4 entries, one in each segment: a b c d fill segments 0 to 3. e: a is evicted, and so is each new entry for the
        // next. b (6) moves up from 1, and c falls: e f g h pass, b c d stay.
        assert_eq!(hits::<Slru>(4, "abcdefbghbcd"), [6, 9, 10, 11]);
        // a is evicted by e, and e by a.
        assert!(hits::<Slru>(4, "abcdeae").is_empty());
    }
}
