//! Destage policies: which dirty stripe goes to the disks next, and how many may be on their way at a time.
//!
//! The write cache gathers its dirty lines in *groups*: the dirty lines of one stripe of one array, which leave together.
//! A policy keeps the groups in an order of its own and is told of every change:
//!
//! ```text
//!   first dirty line of a stripe ──► enter      choose ──► the stripe whose group leaves next
//!   every further write to it ─────► write      allow  ──► groups of an array that may be on their way
//!   the group leaves ──────────────► leave
//! ```
//!
//! | policy | order | when |
//! |---|---|---|
//! | [`CScan`] | address | between the water marks |
//! | [`Wow`] | address; what was written again gets another round | between the water marks |
//! | [`LeastRecentlyWritten`] | time of the last write | between the water marks |
//! | [`LinearThreshold`] | most dirty lines, then address | as many as occupancy says |
//! | [`IdleTime`] | address | when the disks are idle, or the high water mark is reached |
//!
//! Whatever the policy: destage goes at full depth while a write is stalled and while the cache drains.

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

use crate::config;

#[cfg(test)]
pub use order_laws::POLICIES;

pub use c_scan::CScan;
pub use elevator::{ByAddress, Elevator, Trigger};
pub use idle_time::{IdleTime, WhenIdle};
pub use least_recently_written::LeastRecentlyWritten;
pub use linear_threshold::LinearThreshold;
pub use water_marks::WaterMarks;
pub use wow::Wow;

/// Where a group belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StripeId {
    /// The array.
    pub array: u16,
    /// The stripe of the array.
    pub stripe: u64,
}

/// What a write did to a group that was in already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Write {
    /// Dirty lines of the group after it \[lines\].
    pub lines: u32,
    /// Whether it went on where the last write to the group ended.
    pub is_sequential: bool,
}

/// How full the write cache is, as an array that may destage sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Occupancy {
    /// Lines that are dirty or on their way \[lines\].
    pub used: u32,
    /// Lines that are dirty and not on their way \[lines\].
    pub waiting: u32,
    /// Whether a write waits for a free line.
    pub is_stalled: bool,
    /// Whether everything dirty has to go.
    pub is_draining: bool,
    /// Whether the disks of the array have been without foreground I/Os for long enough.
    pub is_idle: bool,
    /// Groups of the array that may be on their way at a time at most \[groups\].
    pub limit: u32,
}

/// The order and the trigger in which groups of dirty lines leave a write cache.
///
/// Groups are small numbers that are used again after they have left; a policy may index arrays by them.
pub trait DestagePolicy {
    /// `group` has its first dirty line. Precondition: it is not in.
    fn enter(&mut self, group: u32, place: StripeId);

    /// `group` was written again, to a line that was dirty already or not. Precondition: it is in.
    fn write(&mut self, group: u32, place: StripeId, write: Write);

    /// `group` leaves: it was chosen, or goes by another way. Precondition: it is in.
    fn leave(&mut self, group: u32, place: StripeId);

    /// The stripe of `array` whose group leaves next; those for which `is_busy` is true are passed over. It stays in until
    /// [`DestagePolicy::leave`], which the caller calls at once.
    fn choose(&mut self, array: u16, is_busy: impl Fn(u64) -> bool) -> Option<u64>;

    /// Groups of one array that may be on their way now, at most `occupancy.limit`.
    fn allow(&mut self, occupancy: &Occupancy) -> u32;
}

/// The destage policy of a write cache.
#[derive(Debug)]
pub enum Destage {
    /// By address.
    CScan(CScan),
    /// By address, with a recency bit.
    Wow(Wow),
    /// By time of the last write.
    LeastRecentlyWritten(LeastRecentlyWritten),
    /// Fullest stripes first, at a rate that grows with occupancy.
    LinearThreshold(LinearThreshold),
    /// By address, when the disks are idle.
    IdleTime(IdleTime),
}

/// Calls a method of whichever policy it is.
macro_rules! each {
    ($policy:expr, $name:ident => $call:expr) => {
        match $policy {
            Destage::CScan($name) => $call,
            Destage::Wow($name) => $call,
            Destage::LeastRecentlyWritten($name) => $call,
            Destage::LinearThreshold($name) => $call,
            Destage::IdleTime($name) => $call,
        }
    };
}

impl Destage {
    /// The policy of a configuration for a number of arrays, between `marks`.
    pub fn new(policy: config::DestagePolicy, arrays: usize, marks: WaterMarks) -> Self {
        match policy {
            config::DestagePolicy::CScan => Self::CScan(CScan::new(arrays, marks)),
            config::DestagePolicy::Wow => Self::Wow(Wow::new(arrays, marks)),
            config::DestagePolicy::LeastRecentlyWritten => {
                Self::LeastRecentlyWritten(LeastRecentlyWritten::new(arrays, marks))
            }
            config::DestagePolicy::LinearThreshold => {
                Self::LinearThreshold(LinearThreshold::new(arrays, marks))
            }
            config::DestagePolicy::IdleTime => Self::IdleTime(IdleTime::new(arrays, WhenIdle::new(marks))),
        }
    }
}

impl DestagePolicy for Destage {
    #[inline]
    fn enter(&mut self, group: u32, place: StripeId) {
        each!(self, policy => policy.enter(group, place));
    }

    #[inline]
    fn write(&mut self, group: u32, place: StripeId, write: Write) {
        each!(self, policy => policy.write(group, place, write));
    }

    #[inline]
    fn leave(&mut self, group: u32, place: StripeId) {
        each!(self, policy => policy.leave(group, place));
    }

    #[inline]
    fn choose(&mut self, array: u16, is_busy: impl Fn(u64) -> bool) -> Option<u64> {
        each!(self, policy => policy.choose(array, is_busy))
    }

    #[inline]
    fn allow(&mut self, occupancy: &Occupancy) -> u32 {
        each!(self, policy => policy.allow(occupancy))
    }
}
