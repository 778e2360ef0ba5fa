//! S3-FIFO: three queues, each first in, first out.
//!
//! ```text
//! new entry ─► small ─ used more than once ─► main ◄─ used: again from the start
//!                └─ else ─► ghosts              └─ else evicted
//!  ghost ─────────────────────────────────► main
//! ```
//!
//! A full cache evicts from `main` if that exceeds its share or `small` is empty, else from `small`. Each entry counts its
//! uses up to 3; in `main` an entry returns to the start once per use. Most new entries are never used again and leave
//! from `small`.
//!
//! J. Yang, Y. Zhang, Z. Qiu, Y. Yue, R. Vinayak: FIFO queues are all you need for cache eviction, SOSP 2023. The paper
//! leaves open what happens while the cache fills: here new entries go to `main` once `small` is full, until the first
//! entry is evicted. A count is cleared on the way from `small` to `main`.
//!
//! Parameters: `probation` \[share of the capacity\], the small queue, 10 %; `ghosts` \[share of the capacity\], as many as
//! `main` holds, 90 %. Both are rounded down. Cost: one search and one count per hit; a miss moves as many entries as had
//! hits since the last pass.
//!
//! Not for data that is mostly used twice, the second time after it has left `small`: it is read twice before it stays.

use super::probation::{MAIN, NEW, Parts, Promote};

/// S3-FIFO.
#[derive(Debug, Default)]
pub struct S3Fifo {
    has_evicted: bool,
}

const MAX_USES: u8 = 3;

fn evict_small(parts: &mut Parts) -> Option<u32> {
    while let Some(slot) = parts.queues.oldest(NEW) {
        if parts.queues.uses(slot) <= 1 {
            return parts.evict_new();
        }
        parts.queues.transfer(slot, MAIN);
    }
    None
}

fn evict_main(parts: &mut Parts) -> Option<u32> {
    while let Some(slot) = parts.queues.oldest(MAIN) {
        let uses = parts.queues.uses(slot);
        if uses == 0 {
            return parts.queues.forget_oldest(MAIN);
        }
        parts.queues.set_uses(slot, uses - 1);
        parts.queues.refresh(slot, MAIN);
    }
    None
}

impl Promote for S3Fifo {
    const PROBATION: f64 = 0.1;
    const GHOSTS: f64 = 0.9;

    #[inline]
    fn record_use(&mut self, parts: &mut Parts, slot: u32) {
        let uses = parts.queues.uses(slot);
        if uses < MAX_USES {
            parts.queues.set_uses(slot, uses + 1);
        }
    }

    fn evict(&mut self, parts: &mut Parts) -> Option<u32> {
        self.has_evicted = true;
        loop {
            let is_main_over = parts.queues.len(MAIN) > parts.capacity - parts.most_new;
            let is_from_main = is_main_over || parts.queues.len(NEW) == 0;
            let found = if is_from_main { evict_main(parts) } else { evict_small(parts) };
            if found.is_some() || parts.held() == 0 {
                return found;
            }
        }
    }

    fn part(&self, parts: &Parts) -> usize {
        if !self.has_evicted && parts.queues.len(NEW) >= parts.most_new { MAIN } else { NEW }
    }
}

#[cfg(test)]
mod tests {
    use super::super::checks::{Naive, check, hits};
    use super::super::{Probation, Room};
    use super::*;

    struct Model {
        room: Room,
        small: Vec<(u64, u32)>,
        main: Vec<(u64, u32)>,
        ghosts: Vec<u64>,
        is_filling: bool,
    }

    impl Model {
        fn evict_one(&mut self) {
            let goal = self.held().len() - 1;
            let most_small = self.room.part(self.room.probation);
            while self.held().len() > goal {
                if self.main.len() > self.room.capacity - most_small || self.small.is_empty() {
                    let (key, uses) = self.main.remove(0);
                    if uses > 0 {
                        self.main.push((key, uses - 1));
                        // Eviction continues in the main queue until one entry has left.
                        while self.main[0].1 > 0 {
                            let (key, uses) = self.main.remove(0);
                            self.main.push((key, uses - 1));
                        }
                        self.main.remove(0);
                    }
                } else {
                    while let Some(&(key, uses)) = self.small.first() {
                        self.small.remove(0);
                        if uses >= 2 {
                            self.main.push((key, 0));
                        } else {
                            self.ghosts.push(key);
                            break;
                        }
                    }
                }
            }
            while self.ghosts.len() > self.room.part(self.room.ghosts) {
                self.ghosts.remove(0);
            }
        }
    }

    impl Naive for Model {
        fn new(room: Room) -> Self {
            Self { room, small: Vec::new(), main: Vec::new(), ghosts: Vec::new(), is_filling: true }
        }

        fn access(&mut self, key: u64) -> bool {
            if let Some(entry) = self.small.iter_mut().chain(&mut self.main).find(|entry| entry.0 == key) {
                entry.1 = (entry.1 + 1).min(3);
                return true;
            }
            let is_ghost = self.ghosts.contains(&key);
            self.ghosts.retain(|&other| other != key);
            if self.held().len() == self.room.capacity {
                self.evict_one();
                self.is_filling = false;
            }
            let is_small_full = self.small.len() >= self.room.part(self.room.probation);
            if is_ghost || (self.is_filling && is_small_full) {
                self.main.push((key, 0));
            } else {
                self.small.push((key, 0));
            }
            false
        }

        fn remove(&mut self, key: u64) {
            self.small.retain(|entry| entry.0 != key);
            self.main.retain(|entry| entry.0 != key);
            self.ghosts.retain(|&other| other != key);
        }

        fn held(&self) -> Vec<u64> {
            self.small.iter().chain(&self.main).map(|entry| entry.0).collect()
        }
    }

    #[test]
    fn agrees_with_lists() {
        check::<Probation<S3Fifo>, Model>();
    }

    #[test]
    fn ghosts_return_to_the_main_queue() {
        // 10 entries: small 1, main 9, ghosts 9. a goes to small, b to j to main. k: a is not used and becomes a ghost.
        // a returns (11) into main, and k becomes a ghost. l and m: main has 10, so b and then, at m, l from small.
        // a is there (14), b is not (15).
        assert_eq!(hits::<Probation<S3Fifo>>(10, "abcdefghijkalmab"), [14]);
        // Two uses carry a from small to main: k takes b's place, a still hits after l.
        assert_eq!(hits::<Probation<S3Fifo>>(10, "aaabcdefghijkla"), [1, 2, 14]);
    }
}
