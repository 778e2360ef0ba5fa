//! Replacement policies: which entry a full cache evicts for a new one.
//!
//! ```text
//!            access(key) ─► hit: its slot
//!                        └► miss ─► admit(key) ─► its slot, and the slot that was evicted
//!            remove(key)        the data has changed: it is neither held nor remembered any longer
//! ```
//!
//! A policy stores keys only. Its user stores the data of an entry under the entry's slot, a small number that stays the
//! same while the entry is held. All entries have the same size. Keys that a policy remembers after their eviction
//! (ghosts) use slots too. Almost nothing is allocated once memory has grown to the capacity and the ghosts, and the
//! same accesses give the same hits on every machine.
//!
//! A policy is one file, one `mod` line and one line in `policies!` below.

mod arc;
#[cfg(test)]
mod checks;
mod clock;
mod directory;
mod entries;
mod fifo;
mod lirs;
mod lru;
mod one_queue;
mod probation;
mod queue;
mod queues;
mod s3_fifo;
mod sieve;
mod slru;
mod two_q;
mod w_tiny_lfu;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use directory::Directory;
use one_queue::OneQueue;
use probation::Probation;
use queue::{Links, Queue};
use queues::Queues;

/// Maximum number of keys per call of [`Replace::expect`].
const BLOCK: usize = 32;

/// The result of an admission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Admission {
    /// Slot of the entry.
    pub slot: u32,
    /// Slot of the evicted entry; it may be the same slot.
    pub evicted: Option<u32>,
}

/// Capacity of a cache, and the parts that some policies have.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Room {
    /// Capacity in entries, at least 1.
    pub capacity: usize,
    /// Share of the capacity on probation, if the policy has such a part.
    pub probation: f64,
    /// Number of ghosts as a share of the capacity, if the policy has ghosts and their number is
    /// a parameter.
    pub ghosts: f64,
}

impl Room {
    /// A share of the capacity in entries, rounded down.
    fn part(self, share: f64) -> usize {
        (self.capacity as f64 * share) as usize
    }
}

/// A replacement policy over entries of one size.
///
/// *Held* means that the data of an entry are in the cache: admitted, and neither evicted nor removed since.
pub trait Replace: Sized {
    /// The share of the capacity on probation in the paper; none if the policy has no such part.
    const PROBATION: Option<f64> = None;
    /// The number of ghosts in the paper as a share of the capacity; none if it is not a parameter.
    const GHOSTS: Option<f64> = None;

    /// An empty cache. Precondition: the capacity is at least 1.
    fn new(room: Room) -> Self;

    /// Number of entries held; never more than the capacity.
    fn held(&self) -> usize;

    /// The slot of `key`, if it is held. Changes nothing.
    fn find(&self, key: u64) -> Option<u32>;

    /// Prefetches memory for the next accesses, to `keys`. Changes no result.
    fn expect(&mut self, keys: &[u64; BLOCK]);

    /// Records a use of `key` and returns its slot, if it is held; else changes nothing.
    fn access(&mut self, key: u64) -> Option<u32>;

    /// Admits `key`. Precondition: it is not held. Afterwards it is held, and at most one other entry, only of a full
    /// cache, is evicted.
    fn admit(&mut self, key: u64) -> Admission;

    /// Removes `key`, also from the ghosts; returns its slot if it was held. Other entries do not change.
    fn remove(&mut self, key: u64) -> Option<u32>;
}

/// Defines the enum of the configuration and the enum for dispatch from one list of policies.
macro_rules! policies {
    ($($(#[doc = $help:literal])+ $name:ident($policy:ty),)+) => {
        /// Which line a full read cache evicts for a new one.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
        #[serde(rename_all = "snake_case")]
        pub enum Policy {
            $($(#[doc = $help])+ $name,)+
        }

        impl Policy {
            /// All policies.
            pub const ALL: &[Self] = &[$(Self::$name,)+];

            /// The share of the capacity on probation in the paper.
            pub const fn probation(self) -> Option<f64> {
                match self { $(Self::$name => <$policy>::PROBATION,)+ }
            }

            /// The number of ghosts in the paper as a share of the capacity.
            pub const fn ghosts(self) -> Option<f64> {
                match self { $(Self::$name => <$policy>::GHOSTS,)+ }
            }

            /// The parts of a cache of `capacity` entries, with the paper's shares as defaults.
            pub fn room(self, capacity: usize, probation: Option<f64>, ghosts: Option<f64>) -> Room {
                Room {
                    capacity,
                    probation: probation.or(self.probation()).unwrap_or(0.0),
                    ghosts: ghosts.or(self.ghosts()).unwrap_or(0.0),
                }
            }

            /// Hits of this policy over the accesses `keys`.
            pub fn count_hits(self, room: Room, keys: impl IntoIterator<Item = u64>) -> u64 {
                match self { $(Self::$name => count_hits(&mut <$policy>::new(room), keys),)+ }
            }
        }

        /// A cache with one of the policies.
        #[derive(Debug)]
        pub enum Replacement {
            $($(#[doc = $help])+ $name($policy),)+
        }

        impl Replacement {
            /// An empty cache. Precondition: the capacity is at least 1.
            pub fn new(policy: Policy, room: Room) -> Self {
                match policy { $(Policy::$name => Self::$name(<$policy>::new(room)),)+ }
            }

            /// See [`Replace::held`].
            #[inline]
            pub fn held(&self) -> usize {
                match self { $(Self::$name(policy) => policy.held(),)+ }
            }

            /// See [`Replace::find`].
            #[inline]
            pub fn find(&self, key: u64) -> Option<u32> {
                match self { $(Self::$name(policy) => policy.find(key),)+ }
            }

            /// See [`Replace::access`].
            #[inline]
            pub fn access(&mut self, key: u64) -> Option<u32> {
                match self { $(Self::$name(policy) => policy.access(key),)+ }
            }

            /// See [`Replace::admit`].
            #[inline]
            pub fn admit(&mut self, key: u64) -> Admission {
                match self { $(Self::$name(policy) => policy.admit(key),)+ }
            }

            /// See [`Replace::remove`].
            #[inline]
            pub fn remove(&mut self, key: u64) -> Option<u32> {
                match self { $(Self::$name(policy) => policy.remove(key),)+ }
            }
        }
    };
}

policies! {
    /// The least recently used line (Mattson et al. 1970).
    Lru(OneQueue<lru::Lru>),
    /// The oldest line not used since the hand last passed (Corbató 1968).
    Clock(OneQueue<clock::Clock>),
    /// The oldest line (Belady 1966).
    Fifo(OneQueue<fifo::Fifo>),
    /// Segmented LRU: each use moves a line up one segment (Karedla, Love, Wherry 1994).
    Slru(slru::Slru),
    /// Balances recency and frequency by hits of its ghosts (Megiddo, Modha 2003).
    Arc(arc::Arc),
    /// A FIFO for new lines, an LRU for lines used again after eviction (Johnson, Shasha 1994).
    TwoQ(Probation<two_q::TwoQ>),
    /// A small FIFO for new lines before the main FIFO (Yang et al. 2023).
    S3Fifo(Probation<s3_fifo::S3Fifo>),
    /// The first line not used since the hand last passed; the others keep their positions (Zhang et al. 2024).
    Sieve(OneQueue<sieve::Sieve>),
    /// Keeps lines of low inter-reference recency (Jiang, Zhang 2002).
    Lirs(lirs::Lirs),
    /// A window before a main part that admits by estimated frequency (Einziger, Friedman, Manes 2017).
    WTinyLfu(w_tiny_lfu::WTinyLfu),
}

/// Hits of `cache` over the accesses `keys`.
fn count_hits(cache: &mut impl Replace, keys: impl IntoIterator<Item = u64>) -> u64 {
    let mut hits = 0;
    let mut keys = keys.into_iter();
    let mut block = [0; BLOCK];
    loop {
        let mut len = 0;
        for (place, key) in block.iter_mut().zip(keys.by_ref()) {
            *place = key;
            len += 1;
        }
        if len == BLOCK {
            cache.expect(&block);
        }
        for &key in &block[..len] {
            if cache.access(key).is_some() {
                hits += 1;
            } else {
                cache.admit(key);
            }
        }
        if len < BLOCK {
            return hits;
        }
    }
}
