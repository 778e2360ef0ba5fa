//! The front end: the host link, and the requests that the controller has accepted.

use super::context::Context;
use super::request::Request;
use crate::config::{self, Duplex};
use crate::event::Event;
use crate::pipe::Pipe;
use crate::slab::{LinkedQueue, Slab};
use crate::transfer_rate::TransferRate;
use crate::units::{SimDuration, SimTime};
use crate::workload::Op;

/// Outstanding requests of open loads beyond which the array cannot carry the load.
const LARGEST_BACKLOG: usize = 100_000;

/// Host link and requests.
#[derive(Debug)]
pub struct FrontEnd {
    /// The requests in the controller, waiting ones included.
    pub requests: Slab<Request>,
    /// Requests beyond the limit of outstanding requests.
    waiting: LinkedQueue,
    outstanding: u32,
    outstanding_limit: Option<u32>,
    backlog_limit: usize,
    /// The two directions of the host link; the first carries both unless the link is full duplex.
    pub link: [Pipe; 2],
    link_overhead: SimDuration,
    link_latency: SimDuration,
    link_rate: Option<TransferRate>,
    is_full_duplex: bool,
}

impl FrontEnd {
    /// The front end of `controller`, for closed sources that have up to `population` requests outstanding.
    pub fn new(controller: &config::Controller, population: usize) -> Self {
        Self {
            requests: Slab::default(),
            waiting: LinkedQueue::default(),
            outstanding: 0,
            outstanding_limit: controller.outstanding_limit,
            backlog_limit: LARGEST_BACKLOG + population,
            link: [Pipe::default(); 2],
            link_overhead: controller.link.command_overhead,
            link_latency: controller.link.latency,
            link_rate: controller.link.bandwidth.map(TransferRate::from),
            is_full_duplex: controller.link.duplex == Some(Duplex::Full),
        }
    }

    /// Requests that are being served.
    pub const fn outstanding(&self) -> u32 {
        self.outstanding
    }

    /// Whether more requests have come than the array can carry, or than the host can issue: `computing` have not been
    /// issued yet.
    #[inline]
    pub fn is_backlogged(&self, computing: usize) -> bool {
        self.requests.len() + computing > self.backlog_limit
    }

    /// Passes a new request to the firmware, or queues it if too many are outstanding.
    #[inline]
    pub fn start(&mut self, context: &mut Context, request: u32) {
        if self.outstanding_limit.is_some_and(|limit| self.outstanding >= limit) {
            self.waiting.push(&mut self.requests, request, |entry| &mut entry.next);
        } else {
            self.admit(context, request);
        }
    }

    #[inline]
    fn admit(&mut self, context: &mut Context, request: u32) {
        self.outstanding += 1;
        let operation = self.requests[request].command.operation;
        let done = context.firmware.claim_command(context.now(), operation);
        context.schedule(done, Event::Firmware(request));
    }

    /// Moves the data of a request over the link; returns false if that takes no time.
    #[inline]
    pub fn cross_link(&mut self, context: &mut Context, request: u32) -> bool {
        let command = &self.requests[request].command;
        let direction = usize::from(self.is_full_duplex && command.operation == Op::Write);
        let bytes = command.sectors.bytes();
        let transfer = self.link_rate.map_or(SimDuration::ZERO, |rate| rate.time_for(bytes));
        let service = self.link_overhead + transfer;
        if service + self.link_latency == SimDuration::ZERO {
            return false;
        }
        let done = self.link[direction].claim(context.now(), service) + self.link_latency;
        context.schedule(done, Event::Link(request));
        true
    }

    /// A request is complete: the next waiting one is admitted.
    #[inline]
    pub fn finish(&mut self, context: &mut Context) {
        self.outstanding -= 1;
        if let Some(next) = self.waiting.pop(&mut self.requests, |entry| &mut entry.next) {
            self.admit(context, next);
        }
    }

    /// Restarts the measurement of utilisation.
    pub fn reset(&mut self, now: SimTime) {
        for direction in &mut self.link {
            direction.reset(now);
        }
    }

    /// Power is cut: all requests end without an answer.
    pub fn cut_power(&mut self, now: SimTime) {
        self.requests = Slab::default();
        self.waiting = LinkedQueue::default();
        self.outstanding = 0;
        for direction in &mut self.link {
            direction.cut(now);
        }
    }
}
