//! 2Q, the full version.
//!
//! ```text
//!  newcomer ─► A1in (fifo) ─► A1out (ghosts, fifo) ─► forgotten
//!                                 └─ used again ─► Am (LRU) ─► forgotten
//! ```
//!
//! An entry is given up from A1in while that holds more than its share, else from Am. A hit in A1in changes nothing, for
//! it may be one more of a burst of uses that belong together.
//!
//! T. Johnson, D. Shasha: 2Q: a low overhead high performance buffer management replacement algorithm, VLDB 1994.
//!
//! Parameters: `probation` \[share of the capacity\], the paper's Kin, 25 %; `ghosts` \[share of the capacity\], its Kout, 50 %.
//! Both are rounded down. Cost: one search for each access; a hit in Am moves it.
//!
//! Not for loops a little longer than the cache, of which A1in holds a quarter in vain, nor for small caches under short
//! reuse distances, where the quarter of newcomers is lost to Am.

use super::{Admission, Directory, Queue, Replace, Room};

/// 2Q.
#[derive(Debug)]
pub struct TwoQ {
    capacity: usize,
    most_in: usize,
    most_out: usize,
    directory: Directory,
    newcomers: Queue,
    ghosts: Queue,
    main: Queue,
}

/// Marks: where an entry is.
const IN: u8 = 0;
const OUT: u8 = 1;
const MAIN: u8 = 2;

impl TwoQ {
    fn evict(&mut self) -> Option<u32> {
        if self.newcomers.len() > self.most_in || self.main.len() == 0 {
            let slot = self.newcomers.pop(&mut self.directory)?;
            self.directory.set_mark(slot, OUT);
            self.ghosts.push(&mut self.directory, slot);
            if self.ghosts.len() > self.most_out
                && let Some(ghost) = self.ghosts.pop(&mut self.directory)
            {
                self.directory.forget(ghost);
            }
            return Some(slot);
        }
        let slot = self.main.pop(&mut self.directory)?;
        self.directory.forget(slot);
        Some(slot)
    }
}

impl Replace for TwoQ {
    const PROBATION: Option<f64> = Some(0.25);
    const GHOSTS: Option<f64> = Some(0.5);

    fn new(room: Room) -> Self {
        Self {
            capacity: room.capacity,
            most_in: room.part(room.probation),
            most_out: room.part(room.ghosts),
            directory: Directory::new(),
            newcomers: Queue::new(),
            ghosts: Queue::new(),
            main: Queue::new(),
        }
    }

    #[inline]
    fn directory(&self) -> &Directory {
        &self.directory
    }

    #[inline]
    fn held(&self) -> usize {
        self.newcomers.len() + self.main.len()
    }

    #[inline]
    fn find(&self, key: u64) -> Option<u32> {
        self.directory.find(key).filter(|&slot| self.directory.mark(slot) != OUT)
    }

    #[inline]
    fn access(&mut self, key: u64) -> Option<u32> {
        let slot = self.find(key)?;
        if self.directory.mark(slot) == MAIN {
            self.main.refresh(&mut self.directory, slot);
        }
        Some(slot)
    }

    fn admit(&mut self, key: u64) -> Admission {
        let ghost = self.directory.find(key);
        if let Some(slot) = ghost {
            self.ghosts.unlink(&mut self.directory, slot);
        }
        let evicted = if self.held() == self.capacity { self.evict() } else { None };
        if let Some(slot) = ghost {
            self.directory.set_mark(slot, MAIN);
            self.main.push(&mut self.directory, slot);
            return Admission { slot, evicted };
        }
        let slot = self.directory.add(key);
        self.newcomers.push(&mut self.directory, slot);
        Admission { slot, evicted }
    }

    fn remove(&mut self, key: u64) -> Option<u32> {
        let slot = self.directory.find(key)?;
        let mark = self.directory.mark(slot);
        let queue = match mark {
            IN => &mut self.newcomers,
            OUT => &mut self.ghosts,
            _ => &mut self.main,
        };
        queue.unlink(&mut self.directory, slot);
        self.directory.forget(slot);
        (mark != OUT).then_some(slot)
    }
}

#[cfg(test)]
mod tests {
    use super::super::checks::{Naive, check, hits};
    use super::*;

    struct Model {
        room: Room,
        a1in: Vec<u64>,
        a1out: Vec<u64>,
        am: Vec<u64>,
    }

    impl Naive for Model {
        fn new(room: Room) -> Self {
            Self { room, a1in: Vec::new(), a1out: Vec::new(), am: Vec::new() }
        }

        fn access(&mut self, key: u64) -> bool {
            if self.a1in.contains(&key) {
                return true;
            }
            if let Some(place) = self.am.iter().position(|&other| other == key) {
                self.am[place..].rotate_left(1);
                return true;
            }
            let is_ghost = self.a1out.contains(&key);
            self.a1out.retain(|&other| other != key);
            if self.held().len() == self.room.capacity {
                if self.a1in.len() > self.room.part(self.room.probation) || self.am.is_empty() {
                    self.a1out.push(self.a1in.remove(0));
                } else {
                    self.am.remove(0);
                }
                while self.a1out.len() > self.room.part(self.room.ghosts) {
                    self.a1out.remove(0);
                }
            }
            if is_ghost { &mut self.am } else { &mut self.a1in }.push(key);
            false
        }

        fn remove(&mut self, key: u64) {
            for list in [&mut self.a1in, &mut self.a1out, &mut self.am] {
                list.retain(|&other| other != key);
            }
        }

        fn held(&self) -> Vec<u64> {
            [self.a1in.as_slice(), &self.am].concat()
        }
    }

    #[test]
    fn agrees_with_lists() {
        check::<TwoQ, Model>();
    }

    #[test]
    fn what_comes_back_stays() {
        // 4 places, of which A1in keeps 1, and 2 ghosts. a b c d fill A1in. e: a becomes a ghost; a comes back into Am,
        // b becomes a ghost. f g: c and d become ghosts, b is forgotten: A1in e f g, Am a. a hits (8), e hits (9).
        // b is new again: e leaves.
        assert_eq!(hits::<TwoQ>(4, "abcdeafgaebe"), [8, 9]);
    }
}
