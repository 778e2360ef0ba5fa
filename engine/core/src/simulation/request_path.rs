//! The path of a request through the controller, up to the caches and back.

use super::Simulation;
use super::request::Request;
use super::write_back::WriteBack;
use crate::mutation::Mutation;
use crate::workload::Op;

impl Simulation {
    /// A think time, a gap or a hold of a source is over: it issues its next requests.
    #[inline]
    pub(super) fn on_source(&mut self, source: u32) {
        if self.control.is_draining() {
            return;
        }
        let count = self.hosts.wake(&mut self.context, source);
        if count == 0 && self.front_end.is_backlogged(self.hosts.computing()) {
            self.end_by_backlog();
        }
        self.issue(source, count);
    }

    /// An interaction may have completed its processor time.
    pub(super) fn on_processor(&mut self, which: u32) {
        if self.control.is_draining() {
            return;
        }
        self.hosts.end_processing(&mut self.context, which);
        while let Some((source, count)) = self.hosts.next_ready() {
            self.issue(source, count);
        }
    }

    #[inline]
    fn issue(&mut self, source: u32, count: u32) {
        for _ in 0..count {
            let requests = &mut self.front_end.requests;
            let Some(request) = self.hosts.issue(&mut self.context, requests, source) else { return };
            if self.front_end.is_backlogged(0) {
                self.end_by_backlog();
            }
            self.front_end.start(&mut self.context, request);
        }
    }

    /// The firmware has processed a command.
    #[inline]
    pub(super) fn on_firmware(&mut self, request: u32) {
        match self.front_end.requests[request].command.operation {
            Op::Read => self.read(request),
            Op::Write => {
                if !self.front_end.cross_link(&mut self.context, request) {
                    self.write(request);
                }
            }
            Op::Flush => {
                self.context.probe.watch(|oracle| oracle.contents.volatile.ask_flush(request));
                self.flush(request);
            }
        }
    }

    /// The link has moved the data of a request.
    pub(super) fn on_link(&mut self, request: u32) {
        match self.front_end.requests[request].command.operation {
            Op::Write => self.write(request),
            Op::Read | Op::Flush => self.complete(request),
        }
    }

    /// One of the array operations or fetches that a request waits for has ended.
    #[inline]
    pub(super) fn part_done(&mut self, request: u32) {
        let entry = &mut self.front_end.requests[request];
        entry.pending -= 1;
        if entry.pending > 0 {
            return;
        }
        let is_read = entry.command.operation == Op::Read;
        if !(is_read && self.front_end.cross_link(&mut self.context, request)) {
            self.complete(request);
        }
    }

    /// A request is complete.
    pub(super) fn complete(&mut self, request: u32) {
        let done = self.front_end.requests.remove(request);
        self.watch_completion(request, &done);
        let now = self.context.now();
        let response = now.since(done.issued);
        let measures = &mut self.context.measures;
        if !self.context.probe.strikes(Mutation::UnmeasuredRequest) {
            measures.complete(&done, response);
        }
        measures.last_completion = now;
        self.reads.complete(&done);
        self.front_end.finish(&mut self.context);
        self.hosts.complete(&mut self.context, &done);
        if done.command.operation != Op::Flush {
            self.count_completion(response);
        }
        self.end_if_input_over();
    }

    /// Reports a completion to the oracle.
    #[inline]
    fn watch_completion(&mut self, request: u32, done: &Request) {
        self.context.probe.watch(|oracle| {
            let may_hold_dirty = self.write_back.as_ref().is_some_and(WriteBack::may_hold_dirty);
            let members = &self.arrays[done.array].redundancy.members;
            oracle.complete(request, done, may_hold_dirty, members);
        });
    }
}
