//! Reads: from the dies, or from the write buffer, over channel and interface.

use super::{PageRead, Ssd, Stage, Work, slot};
use crate::config::ReadRetry;
use crate::disk::{Agenda, Served};
use crate::slab::Link;
use crate::units::SimTime;

impl Ssd {
    pub(super) fn submit_read(&mut self, now: SimTime, command: u32, agenda: &mut Agenda<'_>) {
        let io = self.commands[command].io;
        let (first, last) = self.units(io.lba, io.sectors);
        let page = self.model.units_per_page;
        let page_sectors = u64::from(page * self.model.unit_sectors);
        let (mut from, end) = (io.lba.0, io.lba.0 + u64::from(io.sectors));
        let mut buffered = 0;
        for logical in first / page..=last / page {
            let to = end.min((u64::from(logical) + 1) * page_sectors);
            let sectors = (to - from) as u32;
            from = to;
            let (low, high) = (first.max(logical * page), last.min(logical * page + page - 1));
            let pages = self.translation.pages_of(low, high);
            if pages == 0 {
                buffered += sectors;
                continue;
            }
            let die = logical % self.model.dies;
            self.arrivals += 1;
            let read = PageRead { command, pages, sectors, arrival: self.arrivals, next: Link::END };
            let read = self.reads.insert(read);
            self.commands[command].pending += 1;
            if self.dies[die as usize].work == Work::Nothing {
                self.usage.occupy(now);
                self.start_read(now, die, read, agenda);
            } else {
                let die = &mut self.dies[die as usize];
                let queue = if io.is_background { &mut die.background } else { &mut die.foreground };
                queue.push(&mut self.reads, read, |read| &mut read.next);
                if !io.is_background {
                    self.suspend(now, logical % self.model.dies, agenda);
                }
            }
        }
        if buffered > 0 || self.commands[command].pending == 0 {
            // Buffered or unwritten: directly over the interface.
            let end = self.cross(now, command, buffered);
            if self.commands[command].pending == 0 {
                agenda.schedule(end + self.model.command_latency, slot(Stage::Done, command));
            }
        }
    }

    #[inline]
    pub(super) fn start_read(&mut self, now: SimTime, die: u32, read: u32, agenda: &mut Agenda<'_>) {
        let pages = self.reads[read].pages;
        let time = self.model.read_time * u64::from(pages + self.draw_retries(pages));
        let entry = &mut self.dies[die as usize];
        entry.work = Work::Read(read);
        entry.has_just_read = true;
        self.end_work(now + time, die, agenda);
    }

    /// Additional reads of `pages` pages.
    #[inline]
    fn draw_retries(&mut self, pages: u32) -> u32 {
        let Some(ReadRetry { share, reads }) = self.model.read_retry else { return 0 };
        (0..pages).filter(|_| self.retries.unit() < share.0).count() as u32 * reads
    }

    /// The channel transferred the page that `die` read.
    #[inline]
    pub(super) fn page_read(
        &mut self,
        now: SimTime,
        die: u32,
        yields: bool,
        agenda: &mut Agenda<'_>,
    ) -> Option<Served> {
        let Work::Read(read) = self.dies[die as usize].work else {
            unreachable!("a channel takes only what a die has read")
        };
        let PageRead { command, sectors, .. } = self.reads.remove(read);
        self.go_on(now, die, yields, agenda);
        let end = self.cross(now, command, sectors);
        let entry = &mut self.commands[command];
        entry.pending -= 1;
        if entry.pending > 0 {
            return None;
        }
        self.complete(now, end + self.model.command_latency, command, agenda)
    }
}
