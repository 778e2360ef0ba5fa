//! First in, first out.
//!
//! Entries stand in the order in which they came; the first is given up, used or not. A hit changes nothing.
//!
//! L. A. Belady: A study of replacement algorithms for a virtual-storage computer, IBM Systems Journal 5(2), 1966. No
//! stack algorithm: hits may fall with size (L. A. Belady, R. A. Nelson, G. S. Shedler: An anomaly in space-time
//! characteristics of certain programs running in a paging machine, Communications of the ACM 12(6), 1969).
//!
//! Parameters: none. Cost: one search for each access, two links for each miss.
//!
//! Not where some data is used far more than other: that leaves as soon as the rest.

use super::{Admission, Directory, Queue, Replace, Room};

/// First in, first out.
#[derive(Debug)]
pub struct Fifo {
    capacity: usize,
    directory: Directory,
    queue: Queue,
}

impl Replace for Fifo {
    fn new(room: Room) -> Self {
        Self { capacity: room.capacity, directory: Directory::new(), queue: Queue::new() }
    }

    #[inline]
    fn directory(&self) -> &Directory {
        &self.directory
    }

    #[inline]
    fn held(&self) -> usize {
        self.directory.len()
    }

    #[inline]
    fn find(&self, key: u64) -> Option<u32> {
        self.directory.find(key)
    }

    #[inline]
    fn access(&mut self, key: u64) -> Option<u32> {
        self.directory.find(key)
    }

    #[inline]
    fn admit(&mut self, key: u64) -> Admission {
        let mut evicted = None;
        if self.held() == self.capacity {
            evicted = self.queue.pop(&mut self.directory);
            evicted.inspect(|&slot| self.directory.forget(slot));
        }
        let slot = self.directory.add(key);
        self.queue.push(&mut self.directory, slot);
        Admission { slot, evicted }
    }

    #[inline]
    fn remove(&mut self, key: u64) -> Option<u32> {
        let slot = self.directory.find(key)?;
        self.queue.unlink(&mut self.directory, slot);
        self.directory.forget(slot);
        Some(slot)
    }
}

#[cfg(test)]
mod tests {
    use super::super::checks::{Naive, check, hits};
    use super::*;

    /// Keys from the first on.
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
        check::<Fifo, Model>();
    }

    #[test]
    fn belady_s_anomaly() {
        // The string of the paper of 1969: 3 places give 3 hits, 4 places only 2.
        assert_eq!(hits::<Fifo>(3, "123412512345"), [7, 8, 11]);
        assert_eq!(hits::<Fifo>(4, "123412512345"), [4, 5]);
    }
}
