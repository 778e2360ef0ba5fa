//! Destage policies: the order in which dirty stripes are destaged, and the number in flight.
//!
//! The write cache collects its dirty lines in *groups*: the dirty lines of one stripe of one array, which are destaged
//! together. A policy orders the groups, and is called at every change:
//!
//! ```text
//!   first dirty line of a stripe ──► enter      choose ──► the stripe whose group is destaged next
//!   further write to it ───────────► write      allow  ──► groups of an array that may be in flight
//!   the group leaves ──────────────► leave       follow ──► whether the next stripe may go with the one chosen
//! ```
//!
//! | policy | order | when |
//! |---|---|---|
//! | [`CScan`] | address | between the water marks |
//! | [`Wow`] | address; stripes written again are skipped once | between the water marks |
//! | [`LeastRecentlyWritten`] | time of the last write | between the water marks |
//! | [`LinearThreshold`] | most dirty lines, then address | in proportion to occupancy |
//! | [`IdleTime`] | address | when the disks are idle or the high water mark is reached |
//!
//! A policy is one file, one `mod` line and one line in `policies!` below.
//!
//! Every policy destages at full depth while a write is stalled and while the cache drains.

mod c_scan;
mod elevator;
mod idle_time;
mod least_recently_written;
mod linear_threshold;
#[cfg(test)]
mod order_laws;
mod stripe_set;
mod water_marks;
mod wow;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use c_scan::CScan;
pub use elevator::{ByAddress, Elevator, Trigger};
pub use idle_time::IdleTime;
pub use least_recently_written::LeastRecentlyWritten;
pub use linear_threshold::LinearThreshold;
pub use water_marks::WaterMarks;
pub use wow::Wow;

/// A stripe of an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StripeId {
    /// The array.
    pub array: u16,
    /// Stripe within the array.
    pub stripe: u64,
}

/// The effect of a write on an existing group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Write {
    /// Dirty lines of the group after the write \[lines\].
    pub lines: u32,
    /// Whether the write goes on from the last write to the group (see [`Wow`]).
    pub is_sequential: bool,
}

/// Occupancy of the write cache, for the decision to destage stripes of one array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Occupancy {
    /// Lines dirty or in flight \[lines\].
    pub used: u32,
    /// Lines dirty and not in flight \[lines\].
    pub waiting: u32,
    /// Whether a write waits for a free line.
    pub is_stalled: bool,
    /// Whether the cache drains.
    pub is_draining: bool,
    /// Whether the disks of the array are idle.
    pub is_idle: bool,
    /// Maximum groups of the array in flight \[groups\].
    pub limit: u32,
}

/// The order in which groups of dirty lines are destaged, and the number in flight.
///
/// Group numbers are small and reused, so a policy may index arrays by them.
pub trait DestagePolicy {
    /// `group` gets its first dirty line. Precondition: it is absent.
    fn enter(&mut self, group: u32, place: StripeId);

    /// `group` is written again, to a dirty or another line. Precondition: it is present.
    fn write(&mut self, group: u32, place: StripeId, write: Write);

    /// `group` leaves: it was chosen, or is removed otherwise. Precondition: it is present.
    fn leave(&mut self, group: u32, place: StripeId);

    /// The stripe of `array` to destage next; stripes for which `is_busy` is true are skipped. It remains until
    /// [`DestagePolicy::leave`], which the caller calls immediately.
    fn choose(&mut self, array: u16, is_busy: impl Fn(u64) -> bool) -> Option<u64>;

    /// Whether the stripe at `place`, which is present and follows the one chosen last, may be destaged with it; if so, the
    /// order continues after it.
    fn follow(&mut self, place: StripeId) -> bool;

    /// Groups of one array that may be in flight now, at most `occupancy.limit`.
    fn allow(&mut self, occupancy: &Occupancy) -> u32;
}

/// Defines the enum of the configuration and the enum for dispatch from one list of policies.
macro_rules! policies {
    ($($(#[doc = $help:literal])+ $name:ident,)+) => {
        /// Choice of the stripes to destage, and when.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
        #[serde(rename_all = "snake_case")]
        #[schemars(rename = "DestagePolicy")]
        pub enum Policy {
            $($(#[doc = $help])+ $name,)+
        }

        impl Policy {
            /// All policies.
            #[cfg(test)]
            pub const ALL: &[Self] = &[$(Self::$name,)+];
        }

        /// The destage policy of a write cache.
        #[derive(Debug)]
        pub enum Destage {
            $($(#[doc = $help])+ $name($name),)+
        }

        impl Destage {
            /// The policy of a configuration, for a number of arrays and between `marks`.
            pub fn new(policy: Policy, arrays: usize, marks: WaterMarks) -> Self {
                match policy { $(Policy::$name => Self::$name($name::new(arrays, marks)),)+ }
            }
        }

        impl DestagePolicy for Destage {
            #[inline]
            fn enter(&mut self, group: u32, place: StripeId) {
                match self { $(Self::$name(policy) => policy.enter(group, place),)+ }
            }

            #[inline]
            fn write(&mut self, group: u32, place: StripeId, write: Write) {
                match self { $(Self::$name(policy) => policy.write(group, place, write),)+ }
            }

            #[inline]
            fn leave(&mut self, group: u32, place: StripeId) {
                match self { $(Self::$name(policy) => policy.leave(group, place),)+ }
            }

            #[inline]
            fn choose(&mut self, array: u16, is_busy: impl Fn(u64) -> bool) -> Option<u64> {
                match self { $(Self::$name(policy) => policy.choose(array, is_busy),)+ }
            }

            #[inline]
            fn follow(&mut self, place: StripeId) -> bool {
                match self { $(Self::$name(policy) => policy.follow(place),)+ }
            }

            #[inline]
            fn allow(&mut self, occupancy: &Occupancy) -> u32 {
                match self { $(Self::$name(policy) => policy.allow(occupancy),)+ }
            }
        }
    };
}

policies! {
    /// By address, upwards only and then from the lowest again, between the water marks.
    CScan,
    /// By address, skipping recently written stripes once (Gill & Modha), between the water marks.
    Wow,
    /// The least recently written stripe first, between the water marks.
    LeastRecentlyWritten,
    /// The stripes with the most dirty lines first, at a depth that grows with occupancy (Varma & Jacobson).
    LinearThreshold,
    /// By address, when the disks are idle or the high water mark is reached.
    IdleTime,
}
