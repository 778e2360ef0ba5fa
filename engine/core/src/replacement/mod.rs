//! Replacement: which entry a full cache gives up for a new one.
//!
//! ```text
//!            access(key) ─► hit: its slot
//!                        └► miss ─► admit(key) ─► its slot, and the slot that was given up
//!            remove(key)        the data has changed: it is neither held nor remembered any longer
//! ```
//!
//! A policy knows keys only; whoever uses it keeps what belongs to an entry under the entry's slot, a small number that
//! is the entry's for as long as it is held. Entries have one size. What a policy remembers of keys that it no longer
//! holds (ghosts) takes slots too. Next to nothing is allocated once memory has grown to the capacity and the ghosts,
//! and the same accesses give the same hits on every machine.
//!
//! A policy is a file of its own, and a line each in the lists of modules and of [`policies`] below.

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

/// Keys that are expected at a time.
const BLOCK: usize = 32;

/// What an entry was admitted to, and at whose cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Admission {
    /// The entry's slot.
    pub slot: u32,
    /// The slot of the entry that was given up for it; it may be the same slot.
    pub evicted: Option<u32>,
}

/// How large a cache is, and the parts of it that some policies have.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Room {
    /// Entries that are held at most; at least 1.
    pub capacity: usize,
    /// Share of them for entries that have not proven themselves, where the policy has such a part.
    pub probation: f64,
    /// Keys that are remembered after their entries were given up, as a share of the capacity, where the policy
    /// remembers any and leaves their number open.
    pub ghosts: f64,
}

impl Room {
    /// The share of the capacity in entries, rounded down.
    fn part(self, share: f64) -> usize {
        (self.capacity as f64 * share) as usize
    }
}

/// A replacement policy over entries of one size.
///
/// In all methods *held* means that the entry's data is in the cache: admitted, and neither evicted nor removed since.
pub trait Replace: Sized {
    /// The share of the capacity for entries that have not proven themselves, as the paper gives it; none where the
    /// policy has no such part.
    const PROBATION: Option<f64> = None;
    /// The number of ghosts as a share of the capacity, as the paper gives it; none where it is not open.
    const GHOSTS: Option<f64> = None;

    /// A cache that holds nothing. Precondition: the capacity is at least 1.
    fn new(room: Room) -> Self;

    /// Number of entries held; never more than the capacity.
    fn held(&self) -> usize;

    /// The slot of `key`, if it is held. Changes nothing.
    fn find(&self, key: u64) -> Option<u32>;

    /// Accesses to `keys` are to follow: brings what they will look at near the processor. Changes no result.
    fn expect(&mut self, keys: &[u64; BLOCK]);

    /// Notes a use of `key` and gives its slot, if it is held; else changes nothing.
    fn access(&mut self, key: u64) -> Option<u32>;

    /// Takes `key` in. Precondition: it is not held. Afterwards it is held; of the others all are still held but at
    /// most one, which is given up only where the cache was full.
    fn admit(&mut self, key: u64) -> Admission;

    /// Gives `key` up and forgets it, ghosts included; gives its slot if it was held. Afterwards it is not held, the
    /// others are as before.
    fn remove(&mut self, key: u64) -> Option<u32>;
}

/// Makes the configuration's enum and the one that is matched on from one list of policies.
macro_rules! policies {
    ($($(#[doc = $help:literal])+ $name:ident($policy:ty),)+) => {
        /// Which line a full read cache gives up for a new one.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
        #[serde(rename_all = "snake_case")]
        pub enum Policy {
            $($(#[doc = $help])+ $name,)+
        }

        impl Policy {
            /// All policies.
            pub const ALL: &[Self] = &[$(Self::$name,)+];

            /// The paper's share of the capacity for entries that have not proven themselves.
            pub const fn probation(self) -> Option<f64> {
                match self { $(Self::$name => <$policy>::PROBATION,)+ }
            }

            /// The paper's number of ghosts as a share of the capacity.
            pub const fn ghosts(self) -> Option<f64> {
                match self { $(Self::$name => <$policy>::GHOSTS,)+ }
            }

            /// A cache of `capacity` entries, with the paper's shares where none are given.
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

        /// A cache under one of the policies.
        #[derive(Debug)]
        pub enum Replacement {
            $($(#[doc = $help])+ $name($policy),)+
        }

        impl Replacement {
            /// A cache that holds nothing. Precondition: the capacity is at least 1.
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
    /// The line that was not used for longest (Mattson et al. 1970).
    Lru(OneQueue<lru::Lru>),
    /// The line that came first, unless it was used since the hand last passed (Corbató 1968).
    Clock(OneQueue<clock::Clock>),
    /// The line that came first (Belady 1966).
    Fifo(OneQueue<fifo::Fifo>),
    /// Segmented LRU: each use moves a line up a segment (Karedla, Love, Wherry 1994).
    Slru(slru::Slru),
    /// Balances recency and frequency by what its ghosts tell (Megiddo, Modha 2003).
    Arc(arc::Arc),
    /// A queue for newcomers, an LRU for lines that came back (Johnson, Shasha 1994).
    TwoQ(Probation<two_q::TwoQ>),
    /// A small queue for newcomers before the main one, both first in, first out (Yang et al. 2023).
    S3Fifo(Probation<s3_fifo::S3Fifo>),
    /// The first line not used since the hand last passed, which leaves the others in place (Zhang et al. 2024).
    Sieve(OneQueue<sieve::Sieve>),
    /// Keeps lines of low inter-reference recency (Jiang, Zhang 2002).
    Lirs(lirs::Lirs),
    /// A window, then a main part that admits by a sketch of frequencies (Einziger, Friedman, Manes 2017).
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
