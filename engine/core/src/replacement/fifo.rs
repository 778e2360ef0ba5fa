//! First in, first out.
//!
//! Entries are in order of arrival; the oldest is evicted, used or not. A hit changes nothing.
//!
//! L. A. Belady: A study of replacement algorithms for a virtual-storage computer, IBM Systems Journal 5(2), 1966. No
//! stack algorithm: hits may fall with size (L. A. Belady, R. A. Nelson, G. S. Shedler: An anomaly in space-time
//! characteristics of certain programs running in a paging machine, Communications of the ACM 12(6), 1969).
//!
//! Parameters: none. Cost: one search per access, one record per miss.
//!
//! Not for data of very different popularity: popular data leaves as soon as the rest.

use super::entries::Entries;
use super::one_queue::Order;

/// First in, first out.
#[derive(Debug, Default)]
pub struct Fifo;

impl Order for Fifo {
    #[inline]
    fn record_use(&mut self, _: &mut Entries, _: usize) {}

    #[inline]
    fn choose(&mut self, entries: &mut Entries) -> Option<usize> {
        entries.oldest()
    }
}

#[cfg(test)]
mod tests {
    use super::super::checks::{Naive, check, hits};
    use super::super::{OneQueue, Room};
    use super::*;

    /// Keys, oldest first.
    struct Model(usize, Vec<u64>);

    impl Naive for Model {
        fn new(room: Room) -> Self {
            Self(room.capacity, Vec::new())
        }

        fn access(&mut self, key: u64) -> bool {
            let is_hit = self.1.contains(&key);
            if !is_hit {
                if self.1.len() == self.0 {
                    self.1.remove(0);
                }
                self.1.push(key);
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
        check::<OneQueue<Fifo>, Model>();
    }

    #[test]
    fn belady_s_anomaly() {
        // The string of the paper of 1969: 3 entries give 3 hits, 4 entries only 2.
        assert_eq!(hits::<OneQueue<Fifo>>(3, "123412512345"), [7, 8, 11]);
        assert_eq!(hits::<OneQueue<Fifo>>(4, "123412512345"), [4, 5]);
    }
}
