//! The I/Os that wait at a disk, in two classes.

use std::collections::VecDeque;

use super::Io;
use super::geometry::Location;
use crate::units::SimTime;

/// An I/O that waits, with its place on the disk.
#[derive(Clone, Copy, Debug)]
pub(super) struct Waiting {
    pub io: Io,
    pub arrived: SimTime,
    pub location: Location,
    /// When in a revolution its first sector comes by [ns after the index mark].
    pub angle_ns: u32,
}

/// One class of waiting I/Os: the first `depth` may be reordered, the rest wait in order of arrival.
#[derive(Debug)]
pub(super) struct Class {
    depth: usize,
    window: Vec<Waiting>,
    overflow: VecDeque<Waiting>,
}

impl Class {
    pub fn new(depth: u32) -> Self {
        let depth = depth as usize;
        Self { depth, window: Vec::with_capacity(depth), overflow: VecDeque::new() }
    }

    #[inline]
    pub fn push(&mut self, waiting: Waiting) {
        if self.window.len() < self.depth {
            self.window.push(waiting);
        } else {
            self.overflow.push_back(waiting);
        }
    }

    /// Those that may be served next, in order of arrival.
    #[inline]
    pub fn window(&self) -> &[Waiting] {
        &self.window
    }

    #[inline]
    pub const fn is_empty(&self) -> bool {
        self.window.is_empty()
    }

    /// Takes all of them out, in order of arrival.
    pub fn drain(&mut self) -> impl Iterator<Item = Waiting> {
        self.window.drain(..).chain(self.overflow.drain(..))
    }

    /// Forgets all of them.
    pub fn clear(&mut self) {
        self.window.clear();
        self.overflow.clear();
    }

    /// Takes out the I/O at `index` of the window; the order of the others stays.
    #[inline]
    pub fn take(&mut self, index: usize) -> Waiting {
        let is_last = index + 1 == self.window.len();
        // Nothing moves up behind the last, which most often is the only one.
        let taken = if is_last { self.window.swap_remove(index) } else { self.window.remove(index) };
        if let Some(next) = self.overflow.pop_front() {
            self.window.push(next);
        }
        taken
    }
}
