//! Work of a die: choice of the next, and completion.

use super::{Die, NEVER, Ssd, Stage, Waiting, Work, bytes, slot};
use crate::disk::{Agenda, Served};
use crate::units::SimTime;

impl Ssd {
    /// Starts the next work of an idle die.
    #[inline]
    pub(super) fn go_on(&mut self, now: SimTime, die: u32, yields: bool, agenda: &mut Agenda<'_>) {
        let entry = &self.dies[die as usize];
        let has_read = !entry.foreground.is_empty() || !entry.background.is_empty();
        let takes_turns = entry.has_just_read && !self.entering.is_empty();
        if has_read && !takes_turns {
            let read = self.next_read(die, yields);
            self.start_read(now, die, read, agenda);
        } else if self.resume(now, die, agenda) {
            // It has been counted since it began.
        } else if self.start_writing(now, die, agenda) {
            self.writing += 1;
        } else if has_read {
            let read = self.next_read(die, yields);
            self.start_read(now, die, read, agenda);
        } else {
            self.dies[die as usize].work = Work::Nothing;
            self.usage.release(now);
        }
    }

    pub(super) fn next_read(&mut self, die: u32, yields: bool) -> u32 {
        let Die { foreground, background, .. } = &mut self.dies[die as usize];
        let is_background_next = match (foreground.first(), background.first()) {
            (Some(front), Some(back)) => !yields && self.reads[back].arrival < self.reads[front].arrival,
            (front, _) => front.is_none(),
        };
        let queue = if is_background_next { background } else { foreground };
        let Some(read) = queue.pop(&mut self.reads, |read| &mut read.next) else {
            unreachable!("a read waits")
        };
        read
    }

    /// Starts a copy, an erasure or a program, whichever is due; returns whether there is one.
    pub(super) fn start_writing(&mut self, now: SimTime, die: u32, agenda: &mut Agenda<'_>) -> bool {
        let waits = self.dies[die as usize].waiting.len() as u32;
        if waits == 0 {
            return false;
        }
        if self.translation.is_collection_due(die) {
            self.collect(now, die, agenda);
            return true;
        }
        let page = self.model.units_per_page;
        let must_go = self.dies[die as usize].urgent > 0 || (!self.entering.is_empty() && self.writing == 0);
        if waits < page && !must_go {
            return false;
        }
        self.program(now, die, waits.min(page), agenda);
        true
    }

    pub(super) fn program(&mut self, now: SimTime, die: u32, count: u32, agenda: &mut Agenda<'_>) {
        let mut time = self.model.program_time;
        for index in 0..count as usize {
            let Waiting { unit, is_part, .. } = self.dies[die as usize].waiting[index];
            self.translation.program(unit);
            if is_part {
                time += self.model.read_time;
            }
        }
        self.translation.pad(die);
        let entry = &mut self.dies[die as usize];
        entry.work = Work::Program(count);
        entry.has_just_read = false;
        self.record_program();
        let loaded = self.claim_channel(now, die, count * self.model.unit_sectors);
        self.dies[die as usize].begun = loaded;
        self.end_work(loaded + time, die, agenda);
    }

    pub(super) fn collect(&mut self, now: SimTime, die: u32, agenda: &mut Agenda<'_>) {
        self.dies[die as usize].has_just_read = false;
        if self.translation.is_victim_empty(die) {
            self.translation.erase(die);
            self.usage.record_flash(|flash| flash.erases += 1);
            let entry = &mut self.dies[die as usize];
            (entry.work, entry.copies, entry.begun) = (Work::Collect, 0, now);
            self.end_work(now + self.model.erase_time, die, agenda);
            return;
        }
        // The victim's pages with valid units are read in equal shares, one per programmed page.
        let valid = self.translation.victim_valid(die);
        let page = self.model.units_per_page;
        let pages = u64::from((self.model.units_per_block / page).min(valid));
        let steps = u64::from(valid.div_ceil(page));
        let done = u64::from(self.dies[die as usize].copies).min(steps - 1);
        let reads = pages * (done + 1) / steps - pages * done / steps;
        let copied = self.translation.copy(die);
        self.usage.record_flash(|flash| flash.copied_units += u64::from(copied));
        self.record_program();
        let entry = &mut self.dies[die as usize];
        (entry.work, entry.copies) = (Work::Copy(copied), entry.copies + 1);
        self.end_work(now + self.model.read_time * reads, die, agenda);
    }

    pub(super) fn record_program(&mut self) {
        let sectors = u64::from(self.model.units_per_page * self.model.unit_sectors);
        self.usage.record_flash(|flash| flash.programmed_sectors += sectors);
    }

    /// Reserves the channel of `die` for `sectors`; returns the end of the transfer.
    #[inline]
    pub(super) fn claim_channel(&mut self, now: SimTime, die: u32, sectors: u32) -> SimTime {
        let Some(rate) = self.model.channel_rate else { return now };
        let time = rate.time_for(bytes(sectors));
        self.channels[(die % self.model.channels) as usize].claim(now, time)
    }

    /// A die finished a read, program, copy or erasure.
    #[inline]
    pub(super) fn die_done(
        &mut self,
        now: SimTime,
        die: u32,
        yields: bool,
        agenda: &mut Agenda<'_>,
    ) -> Option<Served> {
        let entry = &mut self.dies[die as usize];
        if entry.due != now {
            // It was suspended.
            return None;
        }
        entry.due = NEVER;
        match entry.work {
            Work::Nothing => unreachable!("a die is done only with what it does"),
            Work::Read(read) => {
                let end = self.claim_channel(now, die, self.reads[read].sectors);
                if end > now {
                    agenda.schedule(end, slot(Stage::Channel, die));
                    return None;
                }
                self.page_read(now, die, yields, agenda)
            }
            Work::Copy(copied) => {
                let end = self.claim_channel(now, die, 2 * copied * self.model.unit_sectors);
                let entry = &mut self.dies[die as usize];
                (entry.work, entry.begun) = (Work::Collect, end);
                self.end_work(end + self.model.program_time, die, agenda);
                None
            }
            Work::Collect => {
                self.writing -= 1;
                self.go_on(now, die, yields, agenda);
                self.relieve(now, agenda);
                None
            }
            Work::Program(count) => self.programmed(now, die, count, yields, agenda),
        }
    }

    pub(super) fn programmed(
        &mut self,
        now: SimTime,
        die: u32,
        count: u32,
        yields: bool,
        agenda: &mut Agenda<'_>,
    ) -> Option<Served> {
        for _ in 0..count {
            let Some(Waiting { command, .. }) = self.dies[die as usize].waiting.pop_front() else { break };
            if let Some(command) = command.get() {
                self.commands[command].pending -= 1;
                if self.commands[command].pending == 0 {
                    let committed = self.mapping.claim(now, self.model.commit_time);
                    agenda.schedule(committed + self.model.command_latency, slot(Stage::Done, command));
                }
            }
        }
        let entry = &mut self.dies[die as usize];
        entry.urgent = entry.urgent.saturating_sub(count);
        if !entry.flushes.is_empty() {
            self.end_flushes(now, die, count, agenda);
        }
        self.room += count;
        self.writing -= 1;
        self.admit(now, agenda);
        self.go_on(now, die, yields, agenda);
        self.relieve(now, agenda);
        None
    }

    /// Programs the newest version of `unit` of an idle die, with the collections that are due.
    pub(super) fn program_without_time(&mut self, die: u32, unit: u32) {
        while self.translation.is_collection_due(die) {
            if self.translation.is_victim_empty(die) {
                self.translation.erase(die);
            } else {
                self.translation.copy(die);
            }
        }
        self.translation.program(unit);
    }
}
