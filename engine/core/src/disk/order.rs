//! The order in which a drive serves waiting I/Os.
//!
//! SSTF, LOOK and C-LOOK: Geist, Daniel: A continuum of disk scheduling algorithms, ACM TOCS 5(1), 1987. SPTF and ageing:
//! Jacobson, Wilkes: Disk scheduling algorithms based on rotational position, HPL-CSP-91-7, 1991; Seltzer, Chen,
//! Ousterhout: Disk scheduling revisited, USENIX Winter 1990.

use std::hint::select_unpredictable;

use super::buffer::Buffer;
use super::drive::Drive;
use super::queue::Waiting;
use crate::config::QueuePolicy;
use crate::units::SimTime;

/// The cost of an I/O that has to wait for another.
const LATER: u64 = u64::MAX / 2;

impl Drive {
    /// Removes and returns the I/O to serve next.
    #[inline]
    pub(super) fn choose(&mut self, now: SimTime, yields: bool) -> Option<Waiting> {
        if let Some(limit) = self.model.age_limit {
            for class in [&mut self.foreground, &mut self.background] {
                if class.is_overdue(now, limit) {
                    return Some(class.take(now, 0));
                }
            }
        }
        let is_foreground_alone = self.background.is_empty() || (yields && !self.foreground.is_empty());
        // With one I/O or none there is nothing to compare.
        if is_foreground_alone && self.foreground.window().len() < 2 {
            return (!self.foreground.is_empty()).then(|| self.foreground.take(now, 0));
        }
        if self.model.policy == QueuePolicy::Sptf
            && let Some(mut buffer) = self.buffer.take()
        {
            self.idle(&mut buffer, now);
            buffer.is_current = true;
            self.buffer = Some(buffer);
        }
        let foreground = self.best(now, self.foreground.window(), self.model.near_tie);
        // Nobody waits for a background I/O, so that its age does not count.
        let background = if is_foreground_alone { None } else { self.best(now, self.background.window(), 0) };
        match (foreground, background) {
            (Some((index, cost)), other) if other.is_none_or(|(_, least)| cost <= least) => {
                Some(self.foreground.take(now, index))
            }
            (_, Some((index, _))) => Some(self.background.take(now, index)),
            _ => None,
        }
    }

    /// The index and cost of the best I/O of `window` by the drive's policy, of equals and near ties the first.
    #[inline]
    fn best(&self, now: SimTime, window: &[Waiting], near_tie: u64) -> Option<(usize, u64)> {
        if self.model.policy == QueuePolicy::Sptf {
            // All costs are computed completely: a bound would skip some at random, and the mispredicted branch costs more.
            let turned = self.turned(now);
            let at_media = |waiting: &Waiting| {
                let time = self.positioning(turned, self.moving(waiting), waiting);
                select_unpredictable(waiting.goes_on, LATER, time)
            };
            let Some(buffer) = &self.buffer else { return least(window, near_tie, at_media) };
            return least(window, near_tie, |waiting| {
                if buffer.may_serve(waiting.mark)
                    && let Some(cost) = in_buffer(buffer, now, waiting)
                {
                    return cost;
                }
                at_media(waiting)
            });
        }
        least(window, 0, |waiting| self.distance(waiting))
    }

    /// The cost of reaching `waiting` for the policies that use addresses instead of times.
    #[inline]
    fn distance(&self, waiting: &Waiting) -> u64 {
        match self.model.policy {
            QueuePolicy::Sstf => u64::from(waiting.location.cylinder.abs_diff(self.cylinder)),
            // I/Os behind the arm come after all those ahead of it, nearest first.
            QueuePolicy::Look => {
                let distance = waiting.io.lba.0.abs_diff(self.next_lba.0);
                let is_ahead = distance == 0 || (waiting.io.lba > self.next_lba) == self.is_upwards;
                if is_ahead { distance } else { distance | 1 << 63 }
            }
            // Addresses behind the arm come after all those ahead of it, lowest first.
            QueuePolicy::CLook => waiting.io.lba.0.wrapping_sub(self.next_lba.0),
            // The window is in order of arrival, and the first of equals is chosen.
            QueuePolicy::Sptf | QueuePolicy::Fcfs => 0,
        }
    }
}

/// Time until an I/O that the buffer serves begins \[ns\]; none if the arm must move for it: for a read, until its first
/// sector passes the head, since skipping it would end the read-ahead that serves it; for a write, until there is room, the
/// same for all, so that they keep their order.
fn in_buffer(buffer: &Buffer, now: SimTime, waiting: &Waiting) -> Option<u64> {
    let io = &waiting.io;
    if io.sectors == 0 {
        return None;
    }
    if io.is_write {
        return buffer
            .takes(io)
            .then(|| if buffer.has_room(now) { 0 } else { buffer.idle_from.since(now).0 });
    }
    let track = u64::from(waiting.location.sectors_per_track);
    let comes = buffer.comes_at(io.lba.0, io.lba.0 + u64::from(io.sectors), now, track)?;
    Some(comes.since(now).0)
}

/// The index and cost of the cheapest I/O of `window`, which is in order of arrival: a later one has to be cheaper by more
/// than `near_tie`, or to cost nothing.
///
/// A positioning time alone would leave a run of reads with gaps (parity, the strips of a mirror) where a sector of the next
/// track happens to come a moment earlier, and come back for what it left, a turn for each.
#[inline]
fn least(window: &[Waiting], near_tie: u64, cost: impl Fn(&Waiting) -> u64) -> Option<(usize, u64)> {
    let (mut best, mut least) = (0, u64::MAX);
    for (index, waiting) in window.iter().enumerate() {
        let cost = cost(waiting);
        // Word by word: a pair that is selected at once becomes a branch when the compiler knows how often it changes.
        let margin = select_unpredictable(cost == 0, 0, near_tie);
        let is_nearer = cost + margin < least;
        best = select_unpredictable(is_nearer, index, best);
        least = select_unpredictable(is_nearer, cost, least);
    }
    (!window.is_empty()).then_some((best, least))
}
