//! Suspension of programs and erasures by reads.
//!
//! ```text
//!   program ──────────┤ suspension_time │ read │ read ├─────────► done
//!                     ▲ read arrives           ▲ rest of the program
//! ```

use super::{Die, Ssd, Stage, Suspended, Work, slot};
use crate::disk::Agenda;
use crate::units::SimTime;

impl Die {
    /// Number of the first waiting units that are being programmed.
    pub(super) const fn programming(&self) -> usize {
        match (self.work, self.suspended) {
            (Work::Program(count), _) | (_, Some(Suspended { work: Work::Program(count), .. })) => {
                count as usize
            }
            _ => 0,
        }
    }
}

impl Ssd {
    /// Schedules the end of the work of `die`.
    #[inline]
    pub(super) fn end_work(&mut self, time: SimTime, die: u32, agenda: &mut Agenda<'_>) {
        self.dies[die as usize].due = time;
        agenda.schedule(time, slot(Stage::Die, die));
    }

    /// Suspends what `die` programs or erases for a read that waits, if that is allowed and sooner than its end.
    ///
    /// While writes wait for room, nothing is suspended: otherwise reads could hold them up for good.
    pub(super) fn suspend(&mut self, now: SimTime, die: u32, agenda: &mut Agenda<'_>) {
        let Some(time) = self.model.suspension_time else { return };
        let entry = &mut self.dies[die as usize];
        // The data of a program are loaded first.
        let stop = now.max(entry.begun);
        let is_suspensible = matches!(entry.work, Work::Program(_) | Work::Collect);
        if !is_suspensible || !self.entering.is_empty() || entry.due <= stop + time {
            return;
        }
        entry.suspended = Some(Suspended { work: entry.work, rest: entry.due.since(stop) });
        let read = self.next_read(die, true);
        self.start_read(stop + time, die, read, agenda);
    }

    /// Goes on with what was suspended; returns whether there is something.
    #[inline]
    pub(super) fn resume(&mut self, now: SimTime, die: u32, agenda: &mut Agenda<'_>) -> bool {
        let entry = &mut self.dies[die as usize];
        let Some(Suspended { work, rest }) = entry.suspended.take() else { return false };
        (entry.work, entry.begun, entry.has_just_read) = (work, now, false);
        self.end_work(now + rest, die, agenda);
        true
    }
}
