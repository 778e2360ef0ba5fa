//! Least recently used.
//!
//! Entries are in order of their last use; the oldest is evicted. Every hit moves an entry.
//!
//! R. L. Mattson, J. Gecsei, D. R. Slutz, I. L. Traiger: Evaluation techniques for storage hierarchies, IBM Systems
//! Journal 9(2), 1970. A stack algorithm: a larger cache holds all that a smaller one does, so hits never fall with size.
//!
//! Parameters: none. Cost: one search and one record per access.
//!
//! Not for scans and loops longer than the cache, which evict everything else and then hit nothing.

use super::entries::Entries;
use super::one_queue::Order;

/// Least recently used.
#[derive(Debug, Default)]
pub struct Lru;

impl Order for Lru {
    #[inline]
    fn record_use(&mut self, entries: &mut Entries, place: usize) {
        entries.refresh(place);
    }

    #[inline]
    fn choose(&mut self, entries: &mut Entries) -> Option<usize> {
        entries.oldest()
    }
}

#[cfg(test)]
mod tests {
    use super::super::checks::{Naive, check, hits, parts};
    use super::super::{OneQueue, Replace, Room, count_hits};
    use super::*;

    type Cache = OneQueue<Lru>;

    /// Keys, least recently used first.
    struct Model(usize, Vec<u64>);

    impl Naive for Model {
        fn new(room: Room) -> Self {
            Self(room.capacity, Vec::new())
        }

        fn access(&mut self, key: u64) -> bool {
            let is_hit = self.1.contains(&key);
            self.1.retain(|&other| other != key);
            self.1.push(key);
            if self.1.len() > self.0 {
                self.1.remove(0);
            }
            is_hit
        }

        fn remove(&mut self, key: u64) {
            self.1.retain(|&other| other != key);
        }

        fn held(&self) -> Vec<u64> {
            self.1.clone()
        }
    }

    #[test]
    fn agrees_with_a_list() {
        check::<Cache, Model>();
    }

    #[test]
    fn stack_distances_worked_by_hand() {
        // a b c b a d a: distances -, -, -, 1, 2, -, 1, so the hits by capacity are:
        let found: Vec<_> = (1..=4).map(|capacity| hits::<Cache>(capacity, "abcbada").len()).collect();
        assert_eq!(found, [0, 2, 3, 3]);
        assert_eq!(hits::<Cache>(2, "abcbada"), [3, 6]);
    }

    #[test]
    fn a_loop_hits_only_if_it_fits() {
        let keys = || (0..10_u64).cycle().take(100);
        assert_eq!(count_hits(&mut Cache::new(parts::<Cache>(9)), keys()), 0);
        assert_eq!(count_hits(&mut Cache::new(parts::<Cache>(10)), keys()), 90);
    }
}
