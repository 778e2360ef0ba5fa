//! The abstract server: c servers, one queue in order of arrival, any service time distribution (M/G/c with
//! Poisson arrivals). Closed forms are tested on it.

use std::collections::VecDeque;

use super::{Io, Started, Usage};
use crate::config;
use crate::rng::Stream;
use crate::units::SimTime;

/// A device whose service time is drawn, whatever the address and size.
#[derive(Debug)]
pub struct Server {
    service: config::Distribution,
    stream: Stream,
    slots: Box<[Option<Io>]>,
    foreground: VecDeque<Io>,
    background: VecDeque<Io>,
    pub(super) usage: Usage,
}

impl Server {
    /// A server by its configuration, with the random stream of its service times.
    pub fn new(config: &config::Server, stream: Stream) -> Self {
        Self {
            service: config.service,
            stream,
            slots: vec![None; config.servers as usize].into(),
            foreground: VecDeque::new(),
            background: VecDeque::new(),
            usage: Usage::new(config.servers),
        }
    }

    pub(super) fn submit(&mut self, now: SimTime, io: Io) -> Option<Started> {
        self.usage.arrive(now);
        if let Some(slot) = self.slots.iter().position(Option::is_none) {
            return Some(self.start(now, slot, io));
        }
        if io.is_background {
            self.background.push_back(io);
        } else {
            self.foreground.push_back(io);
        }
        None
    }

    pub(super) fn finish(&mut self, now: SimTime, slot: u32, yields: bool) -> (Io, Option<Started>) {
        self.usage.end(now);
        let slot = slot as usize;
        let Some(io) = self.slots[slot].take() else {
            unreachable!("a server finishes only what it has started")
        };
        let next = if yields || self.background.is_empty() {
            self.foreground.pop_front().or_else(|| self.background.pop_front())
        } else {
            self.background.pop_front()
        };
        (io, next.map(|next| self.start(now, slot, next)))
    }

    fn start(&mut self, now: SimTime, slot: usize, io: Io) -> Started {
        self.usage.begin(io.is_write);
        self.slots[slot] = Some(io);
        Started { slot: slot as u32, done: now + self.stream.duration(&self.service) }
    }
}
