//! Writes: into the buffer as far as there is room, then to the dies of their addresses.

use super::{Command, Flush, Piece, Ssd, Stage, Waiting, Work, slot};
use crate::disk::{Agenda, Served};
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

    pub(super) fn received(&mut self, now: SimTime, piece: u32, agenda: &mut Agenda<'_>) -> Option<Served> {
        let Piece { command, first, count } = self.pieces.remove(piece);
        let io = self.commands[command].io;
        let (first_of_all, last_of_all) = self.units(io.lba, io.sectors);
        let unit_sectors = u64::from(self.model.unit_sectors);
        let is_cached = self.model.is_protected || (self.model.is_volatile && !io.is_forced);
        let end = io.lba.0 + u64::from(io.sectors);
        for unit in first..first + count {
            let from = u64::from(unit) * unit_sectors;
            let is_part =
                (from < io.lba.0 || from + unit_sectors > end) && self.translation.has_old_version(unit);
            let sectors = (io.lba.0.saturating_sub(from) as u8, unit_sectors.min(end - from) as u8);
            let is_buffered = is_cached && self.translation.buffer(unit);
            if is_buffered && (self.model.is_protected || self.merge(unit, sectors)) {
                // It replaced a version that still waits.
                self.room += 1;
                continue;
            }
            let (die, _) = self.translation.locate(unit);
            let waiter = if is_cached { Link::END } else { Link::to(command) };
            let die = &mut self.dies[die as usize];
            die.waiting.push_back(Waiting { unit, command: waiter, sectors, is_part });
            if !is_cached {
                die.urgent = die.waiting.len() as u32;
            }
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
        if is_cached && is_last {
            return self.complete(now, now + self.model.command_latency, command, agenda);
        }
        None
    }

    /// Merges `sectors` of a unit with a version that waits in the cache, if together they are one run; returns whether
    /// they are.
    fn merge(&mut self, unit: u32, (first, end): (u8, u8)) -> bool {
        let die = &mut self.dies[self.translation.locate(unit).0 as usize];
        let programmed = die.programming();
        let version = die.waiting.iter_mut().skip(programmed).find(|waiting| {
            waiting.unit == unit
                && waiting.command.get().is_none()
                && waiting.sectors.0 <= end
                && first <= waiting.sectors.1
        });
        let Some(Waiting { sectors, .. }) = version else { return false };
        *sectors = (sectors.0.min(first), sectors.1.max(end));
        true
    }

    /// Completes a flush when all units that wait are on the flash. What is protected, or waits in an admitted write, is
    /// not for it to force.
    pub(super) fn flush(&mut self, now: SimTime, command: u32, agenda: &mut Agenda<'_>) {
        let dies = if self.model.is_volatile { self.model.dies } else { 0 };
        for die in 0..dies {
            let entry = &mut self.dies[die as usize];
            let units = entry.waiting.len() as u32;
            if units > 0 {
                entry.urgent = units;
                entry.flushes.push_back(Flush { command, units });
                self.commands[command].pending += 1;
                self.wake(now, die, agenda);
            }
        }
        if self.commands[command].pending == 0 {
            agenda.schedule(now + self.model.command_latency, slot(Stage::Done, command));
        }
    }

    /// Ends the flushes that waited for at most `count` units of `die`.
    pub(super) fn end_flushes(&mut self, now: SimTime, die: u32, count: u32, agenda: &mut Agenda<'_>) {
        let Self { dies, commands, mapping, model, .. } = self;
        dies[die as usize].flushes.retain_mut(|flush| {
            flush.units = flush.units.saturating_sub(count);
            if flush.units > 0 {
                return true;
            }
            let pending = &mut commands[flush.command].pending;
            *pending -= 1;
            if *pending == 0 {
                let committed = mapping.claim(now, model.commit_time);
                agenda.schedule(committed + model.command_latency, slot(Stage::Done, flush.command));
            }
            false
        });
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
