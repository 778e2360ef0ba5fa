//! A cache of two parts and a history: new entries on probation, the main part, and ghosts of new entries that were
//!
//! ```text
//! new entry ─► NEW ── evicted ─► GHOSTS, first in, first out ─► forgotten
//!               └─ as the policy says ─► MAIN ◄─ used again ─┘
//! ```

use super::{Admission, BLOCK, Queues, Replace, Room};

/// The queue of new entries.
pub const NEW: usize = 0;
/// The queue of the main part.
pub const MAIN: usize = 1;
const GHOSTS: usize = 2;

/// The parts of a cache, and its ghosts.
#[derive(Debug)]
pub struct Parts {
    pub queues: Queues<3>,
    pub capacity: usize,
    /// Target number of new entries.
    pub most_new: usize,
    most_ghosts: usize,
}

impl Parts {
    #[inline]
    pub const fn held(&self) -> usize {
        self.queues.len(NEW) + self.queues.len(MAIN)
    }

    #[inline]
    fn is_held(&self, slot: u32) -> bool {
        self.queues.queue(slot) != GHOSTS
    }

    #[inline]
    fn find(&self, key: u64) -> Option<u32> {
        self.queues.directory.find(key).filter(|&slot| self.is_held(slot))
    }

    /// Evicts the oldest new entry, which becomes a ghost.
    pub fn evict_new(&mut self) -> Option<u32> {
        let slot = self.queues.pop(NEW)?;
        self.queues.put(slot, GHOSTS);
        if self.queues.len(GHOSTS) > self.most_ghosts {
            self.queues.forget_oldest(GHOSTS);
        }
        Some(slot)
    }
}

/// The effect of a hit on a cache of two parts, and the choice of the evicted entry.
pub trait Promote: Default {
    /// See [`Replace::PROBATION`].
    const PROBATION: f64;
    /// See [`Replace::GHOSTS`].
    const GHOSTS: f64;

    /// Records a hit of the entry in `slot`.
    fn record_use(&mut self, parts: &mut Parts, slot: u32);

    /// Evicts an entry. Precondition: the cache is full.
    fn evict(&mut self, parts: &mut Parts) -> Option<u32>;

    /// The part for a key that is neither held nor remembered.
    #[inline]
    fn part(&self, _: &Parts) -> usize {
        NEW
    }
}

/// A cache of two parts.
#[derive(Debug)]
pub struct Probation<P> {
    parts: Parts,
    policy: P,
}

impl<P: Promote> Replace for Probation<P> {
    const PROBATION: Option<f64> = Some(P::PROBATION);
    const GHOSTS: Option<f64> = Some(P::GHOSTS);

    fn new(room: Room) -> Self {
        let parts = Parts {
            queues: Queues::new(),
            capacity: room.capacity,
            most_new: room.part(room.probation),
            most_ghosts: room.part(room.ghosts),
        };
        Self { parts, policy: P::default() }
    }

    #[inline]
    fn expect(&mut self, keys: &[u64; BLOCK]) {
        self.parts.queues.directory.expect(keys);
    }

    #[inline]
    fn held(&self) -> usize {
        self.parts.held()
    }

    #[inline]
    fn find(&self, key: u64) -> Option<u32> {
        self.parts.find(key)
    }

    #[inline]
    fn access(&mut self, key: u64) -> Option<u32> {
        let slot = self.parts.find(key)?;
        self.policy.record_use(&mut self.parts, slot);
        Some(slot)
    }

    fn admit(&mut self, key: u64) -> Admission {
        let ghost = self.parts.queues.directory.find(key);
        ghost.inspect(|&slot| self.parts.queues.take(slot));
        let is_full = self.parts.held() == self.parts.capacity;
        let evicted = if is_full { self.policy.evict(&mut self.parts) } else { None };
        let part = if ghost.is_some() { MAIN } else { self.policy.part(&self.parts) };
        let slot = ghost.unwrap_or_else(|| self.parts.queues.directory.add(key));
        self.parts.queues.put(slot, part);
        Admission { slot, evicted }
    }

    fn remove(&mut self, key: u64) -> Option<u32> {
        let slot = self.parts.queues.directory.find(key)?;
        let was_held = self.parts.is_held(slot);
        self.parts.queues.forget(slot);
        was_held.then_some(slot)
    }
}
