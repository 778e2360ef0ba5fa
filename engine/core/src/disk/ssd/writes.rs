//! Writes: into the buffer as far as there is room, then to the dies of their addresses.

use super::{Command, Piece, Ssd, Stage, Waiting, Work, slot};
use crate::disk::{Agenda, Io};
use crate::slab::Link;
use crate::units::SimTime;

impl Ssd {
    /// Admits writes to the buffer, in order of arrival, as far as there is room.
    pub(super) fn admit(&mut self, now: SimTime, agenda: &mut Agenda<'_>) {
        while let Some(command) = self.entering.first() {
            let Command { io, admitted, .. } = self.commands[command];
            let (first, last) = self.units(io.lba, io.sectors);
            let left = last - first + 1 - admitted;
            let count = left.min(self.room);
            if count == 0 {
                return;
            }
            self.room -= count;
            let first = first + admitted;
            let unit = u64::from(self.model.unit_sectors);
            let from = io.lba.0.max(u64::from(first) * unit);
            let to = (io.lba.0 + u64::from(io.sectors)).min(u64::from(first + count) * unit);
            let end = self.cross(now, command, (to - from) as u32);
            let piece = self.pieces.insert(Piece { command, first, count });
            agenda.schedule(end, slot(Stage::Received, piece));
            self.commands[command].admitted += count;
            if count == left {
                self.entering.pop(&mut self.commands, |command| &mut command.next);
            }
        }
    }

    pub(super) fn received(&mut self, now: SimTime, piece: u32, agenda: &mut Agenda<'_>) -> Option<Io> {
        let Piece { command, first, count } = self.pieces.remove(piece);
        let io = self.commands[command].io;
        let (first_of_all, last_of_all) = self.units(io.lba, io.sectors);
        let (is_protected, unit_sectors) = (self.model.is_protected, u64::from(self.model.unit_sectors));
        let end = io.lba.0 + u64::from(io.sectors);
        for unit in first..first + count {
            let from = u64::from(unit) * unit_sectors;
            let is_part =
                (from < io.lba.0 || from + unit_sectors > end) && self.translation.has_old_version(unit);
            if is_protected && self.translation.buffer(unit) {
                // It replaced a version that still waits.
                self.room += 1;
                continue;
            }
            let (die, _) = self.translation.locate(unit);
            let waiter = if is_protected { Link::END } else { Link::to(command) };
            self.dies[die as usize].waiting.push_back(Waiting { unit, command: waiter, is_part });
        }
        // The dies start after all units are buffered, so that they can fill their pages.
        let page = self.model.units_per_page;
        for logical in first / page..=(first + count - 1) / page {
            self.wake(now, logical % self.model.dies, agenda);
        }
        self.admit(now, agenda);
        self.relieve(now, agenda);
        let is_last = first + count > last_of_all;
        debug_assert!(first >= first_of_all);
        if is_protected && is_last {
            return self.complete(now, now + self.model.command_latency, command, agenda);
        }
        None
    }

    /// Starts an idle die.
    pub(super) fn wake(&mut self, now: SimTime, die: u32, agenda: &mut Agenda<'_>) {
        if self.dies[die as usize].work == Work::Nothing {
            self.usage.occupy(now);
            self.go_on(now, die, true, agenda);
        }
    }

    /// If writes wait for room and no die will make any, lets the die with the most units program a partly filled page.
    pub(super) fn relieve(&mut self, now: SimTime, agenda: &mut Agenda<'_>) {
        if self.entering.is_empty() || self.writing > 0 || self.pieces.len() > 0 {
            return;
        }
        let mut most = 0;
        let mut fullest = None;
        for (index, die) in self.dies.iter().enumerate() {
            if die.waiting.len() > most && die.work == Work::Nothing {
                (most, fullest) = (die.waiting.len(), Some(index as u32));
            }
        }
        if let Some(die) = fullest {
            self.usage.occupy(now);
            self.go_on(now, die, true, agenda);
        }
    }
}
