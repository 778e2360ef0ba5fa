//! The way of a request through the controller, up to the caches and back.

use super::request::{Request, Service};
use super::{Simulation, WriteBack};
use crate::event::Event;
use crate::mutation::Mutation;
use crate::slab::Link;
use crate::units::{SimDuration, SimTime};
use crate::workload::{Command, Op};

impl Simulation {
    /// A host issues a command.
    #[inline]
    pub(super) fn issue(&mut self, source: u32, array: u16, command: Command, record: u32) {
        self.note_command(source, command);
        let request = self.requests.insert(Request {
            source,
            record,
            array,
            command,
            issued: self.now,
            stalled_since: SimTime::ZERO,
            accepted: 0,
            pending: 0,
            service: Service::None,
            next: Link::END,
        });
        if self.requests.len() > self.backlog_limit {
            self.give_up_on_backlog();
        }
        if self.limit.is_some_and(|limit| self.outstanding >= limit) {
            self.waiting.push(&mut self.requests, request, |entry| &mut entry.next);
        } else {
            self.admit(request);
        }
    }

    #[inline]
    fn admit(&mut self, request: u32) {
        self.outstanding += 1;
        let time = match &mut self.command_draws {
            None => self.command_time,
            Some(draws) => draws.exponential_duration(self.command_time),
        };
        let done = self.firmware.claim(self.now, time);
        self.events.schedule(done, Event::Firmware(request));
    }

    /// The firmware has processed a command.
    #[inline]
    pub(super) fn on_firmware(&mut self, request: u32) {
        let command = self.requests[request].command;
        match command.operation {
            Op::Read => self.read(request),
            Op::Write => {
                if !self.cross_link(request) {
                    self.write(request);
                }
            }
            Op::Flush => {
                self.probe.watch(|oracle| oracle.contents.volatile.ask_flush(request));
                self.flush(request);
            }
        }
    }

    /// Moves the data of a request over the link; gives false where that takes no time.
    #[inline]
    fn cross_link(&mut self, request: u32) -> bool {
        let link = &self.scenario.controller.link;
        let command = &self.requests[request].command;
        let bytes = command.sectors.bytes();
        let direction = usize::from(self.is_full_duplex && command.operation == Op::Write);
        let transfer = link.bandwidth.map_or(SimDuration::ZERO, |rate| rate.time_for(bytes));
        let service = link.command_overhead + transfer;
        if service == SimDuration::ZERO {
            return false;
        }
        let done = self.link[direction].claim(self.now, service);
        self.events.schedule(done, Event::Link(request));
        true
    }

    /// The link has moved the data of a request.
    pub(super) fn on_link(&mut self, request: u32) {
        match self.requests[request].command.operation {
            Op::Write => self.write(request),
            Op::Read | Op::Flush => self.complete(request),
        }
    }

    /// The data of a read are in the controller.
    #[inline]
    pub(super) fn data_ready(&mut self, request: u32) {
        if !self.cross_link(request) {
            self.complete(request);
        }
    }

    /// One of the array operations or fetches that a request waits for is done.
    #[inline]
    pub(super) fn part_done(&mut self, request: u32) {
        let entry = &mut self.requests[request];
        entry.pending -= 1;
        if entry.pending > 0 {
            return;
        }
        match entry.command.operation {
            Op::Read => self.data_ready(request),
            Op::Write | Op::Flush => self.complete(request),
        }
    }

    /// Reports an acknowledgement to the oracle.
    #[inline]
    fn watch_completion(&mut self, request: u32, done: &Request) {
        let (back, arrays) = (&self.write_back, &self.arrays);
        self.probe.watch(|oracle| {
            let may_hold_dirty = back.as_ref().is_some_and(WriteBack::may_hold_dirty);
            let members = &arrays[done.array as usize].redundancy.members;
            oracle.complete(request, done, may_hold_dirty, members);
        });
    }

    /// A request is over.
    pub(super) fn complete(&mut self, request: u32) {
        let done = self.requests.remove(request);
        self.watch_completion(request, &done);
        let response = self.now.since(done.issued);
        let command = done.command;
        if !self.probe.strikes(Mutation::UnmeasuredRequest) {
            self.measures.complete(&done, response);
        }
        self.measures.last_completion = self.now;
        self.outstanding -= 1;
        if let Some(next) = self.waiting.pop(&mut self.requests, |entry| &mut entry.next) {
            self.admit(next);
        }
        self.on_completion(&done);
        if command.operation != Op::Flush {
            self.observe(response);
        }
        self.finish_if_input_over();
    }
}
