//! The waiting I/Os of a disk, in two classes.

use std::collections::VecDeque;

use super::Io;
use super::buffer::Mark;
use super::geometry::Location;
use crate::config;
use crate::units::{SimDuration, SimTime};

/// Windows of I/Os that are served before one that is older than the age limit. LOOK and C-LOOK reach every I/O within two,
/// so that the limit acts on starvation only.
const PATIENCE: usize = 4;

/// Unit of a share.
const WHOLE: u64 = 1 << 16;

/// A waiting I/O with its location on the disk.
#[derive(Clone, Copy, Debug)]
pub(super) struct Waiting {
    pub io: Io,
    /// When the drive took it into its window, from which its age counts.
    pub entered: SimTime,
    /// I/Os of its class that had been taken by then, which tells how many have been preferred to it since.
    pub taken_before: u32,
    pub location: Location,
    /// Its mark for the buffer.
    pub mark: Mark,
    /// Time within a revolution at which its first sector passes the head [ns after the index mark].
    pub angle_ns: u32,
    /// Whether it is a read behind the one that waits before it, and is served after it by SPTF.
    pub goes_on: bool,
}

impl Waiting {
    /// Whether this read begins less than a track after the end of the read `other`, so that a head that reads on comes to it.
    #[inline]
    fn is_behind(&self, other: &Self) -> bool {
        let gap = self.io.lba.0.wrapping_sub(other.io.lba.0 + u64::from(other.io.sectors));
        gap < u64::from(self.location.sectors_per_track) && !self.io.is_write && !other.io.is_write
    }
}

/// One class of waiting I/Os: the first `depth` may be reordered, the rest wait in order of arrival.
#[derive(Debug)]
pub(super) struct Class {
    depth: usize,
    /// Share of the window to choose from \[1 / `WHOLE`\].
    choice: u64,
    taken: u32,
    window: Vec<Waiting>,
    overflow: VecDeque<Waiting>,
}

impl Class {
    pub fn new(queue: &config::Queue) -> Self {
        let depth = queue.depth as usize;
        let choice = (queue.choice_fraction.0 * WHOLE as f64 + 0.5) as u64;
        Self { depth, choice, taken: 0, window: Vec::with_capacity(depth), overflow: VecDeque::new() }
    }

    #[inline]
    pub fn push(&mut self, waiting: Waiting) {
        if self.window.len() < self.depth {
            self.admit(Waiting { taken_before: self.taken, ..waiting });
        } else {
            self.overflow.push_back(waiting);
        }
    }

    /// Takes an I/O into the window.
    #[inline]
    fn admit(&mut self, waiting: Waiting) {
        let goes_on = self.window.last().is_some_and(|last| waiting.is_behind(last));
        self.window.push(Waiting { goes_on, ..waiting });
    }

    /// The I/Os that may be served next: the oldest of those that wait, in order of arrival.
    #[inline]
    pub fn window(&self) -> &[Waiting] {
        let waiting = self.window.len();
        let oldest = (waiting as u64 * self.choice).div_ceil(WHOLE) as usize;
        &self.window[..oldest.max(1).min(waiting)]
    }

    /// Whether the I/O that has been in the window for longest has to be served now: it has been there for `limit`, and
    /// [`PATIENCE`] times as many I/Os as wait now have been preferred to it.
    ///
    /// A limit of time alone would find every I/O overdue once the window holds more than the disk serves within it, and
    /// the disk would serve them in order of arrival, at half the rate. The window is in order of entry: only its first
    /// can be overdue.
    #[inline]
    pub fn is_overdue(&self, now: SimTime, limit: SimDuration) -> bool {
        self.window.first().is_some_and(|oldest| {
            let preferred = self.taken.wrapping_sub(oldest.taken_before) as usize;
            now.since(oldest.entered) >= limit && preferred >= PATIENCE * self.window.len()
        })
    }

    #[inline]
    pub const fn is_empty(&self) -> bool {
        self.window.is_empty()
    }

    /// Removes and returns all I/Os, in order of arrival.
    pub fn drain(&mut self) -> impl Iterator<Item = Waiting> {
        self.window.drain(..).chain(self.overflow.drain(..))
    }

    /// Removes all I/Os.
    pub fn clear(&mut self) {
        self.window.clear();
        self.overflow.clear();
    }

    /// Removes and returns the I/O at `index` of the window at `now`; the others keep their order.
    #[inline]
    pub fn take(&mut self, now: SimTime, index: usize) -> Waiting {
        self.taken = self.taken.wrapping_add(1);
        let is_last = index + 1 == self.window.len();
        // No I/O moves up after the last, which is usually the only one.
        let taken = if is_last { self.window.swap_remove(index) } else { self.window.remove(index) };
        if let Some(next) = self.window.get_mut(index) {
            next.goes_on = false;
        }
        if let Some(next) = self.overflow.pop_front() {
            self.admit(Waiting { entered: now, taken_before: self.taken, ..next });
        }
        taken
    }
}
