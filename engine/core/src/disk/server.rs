//! The abstract server: c servers, one first-come-first-served queue, any service time distribution (M/G/c with
//! Poisson arrivals). Tests compare it with closed forms.

use std::collections::VecDeque;

use super::{Agenda, BlockDevice, Io, Served, Usage};
use crate::config;
use crate::rng::RandomStream;
use crate::units::{Lba, Sectors, SimTime};

/// A waiting I/O, with the number and the time of its arrival.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    arrival: u64,
    entered: SimTime,
    io: Io,
}

/// A device with random service times, independent of address and size.
#[derive(Debug)]
pub struct Server {
    service: config::Distribution,
    stream: RandomStream,
    slots: Box<[Option<Served>]>,
    foreground: VecDeque<Waiting>,
    background: VecDeque<Waiting>,
    arrivals: u64,
    usage: Usage,
}

impl BlockDevice for Server {
    fn submit(&mut self, now: SimTime, io: Io, agenda: &mut Agenda<'_>) {
        self.usage.arrive(now);
        if let Some(slot) = self.slots.iter().position(Option::is_none) {
            self.start(now, slot, now, io, agenda);
            return;
        }
        self.arrivals += 1;
        let waiting = Waiting { arrival: self.arrivals, entered: now, io };
        if io.is_background {
            self.background.push_back(waiting);
        } else {
            self.foreground.push_back(waiting);
        }
    }

    fn lose_power(&mut self, now: SimTime, _lose: &mut dyn FnMut(Lba, Sectors)) {
        self.usage.cut(now);
        self.slots.fill(None);
        self.foreground.clear();
        self.background.clear();
    }

    fn fail(&mut self, now: SimTime) -> Vec<Io> {
        self.usage.cut(now);
        let waiting = self.foreground.drain(..).chain(self.background.drain(..)).map(|waiting| waiting.io);
        self.slots.iter_mut().filter_map(Option::take).map(|served| served.io).chain(waiting).collect()
    }

    fn act(&mut self, now: SimTime, slot: u32, yields: bool, agenda: &mut Agenda<'_>) -> Option<Served> {
        self.usage.end(now);
        let slot = slot as usize;
        let Some(served) = self.slots[slot].take() else {
            unreachable!("a server finishes only what it has started")
        };
        let is_background_next = match (self.foreground.front(), self.background.front()) {
            (Some(foreground), Some(background)) => !yields && background.arrival < foreground.arrival,
            (foreground, _) => foreground.is_none(),
        };
        let next = if is_background_next { self.background.pop_front() } else { self.foreground.pop_front() };
        if let Some(next) = next {
            self.start(now, slot, next.entered, next.io, agenda);
        }
        Some(served)
    }

    #[inline]
    fn usage(&self) -> &Usage {
        &self.usage
    }

    #[inline]
    fn usage_mut(&mut self) -> &mut Usage {
        &mut self.usage
    }
}

impl Server {
    /// A server of a configuration; service times are drawn from `stream`.
    pub fn new(config: &config::Server, stream: RandomStream) -> Self {
        Self {
            service: config.service,
            stream,
            slots: vec![None; config.servers as usize].into(),
            foreground: VecDeque::new(),
            background: VecDeque::new(),
            arrivals: 0,
            usage: Usage::new(config.servers),
        }
    }

    fn start(&mut self, now: SimTime, slot: usize, entered: SimTime, io: Io, agenda: &mut Agenda<'_>) {
        self.usage.begin(io.is_write);
        self.slots[slot] = Some(Served { io, since: if io.is_write { entered } else { now } });
        agenda.schedule(now + self.service.draw(&mut self.stream), slot as u32);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::{Event, EventQueue};
    use crate::rng::Purpose;
    use crate::units::{Bytes, Lba, SimDuration};

    /// The order in which foreground (f) and background (b) I/Os complete.
    fn order(arrivals: &str, yields: bool) -> Vec<u64> {
        let service = config::Distribution::Constant { value: SimDuration(10) };
        let config = config::Server { servers: 1, service, capacity: Bytes(1 << 20) };
        let mut server = Server::new(&config, RandomStream::named(1, 0, "server", 0, Purpose::Service));
        let mut events = EventQueue::new();
        for (lba, class) in (0..).zip(arrivals.chars()) {
            let is_background = class == 'b';
            let io = Io {
                lba: Lba(lba),
                sectors: 1,
                is_write: is_background,
                is_background,
                is_forced: false,
                operation: 0,
            };
            server.submit(SimTime(0), io, &mut Agenda::new(&mut events, 0));
        }
        let mut done = Vec::new();
        while let Some((now, Event::Device { slot, .. })) = events.next() {
            done.extend(
                server.act(now, slot, yields, &mut Agenda::new(&mut events, 0)).map(|served| served.io.lba.0),
            );
        }
        done
    }

    #[test]
    fn without_yielding_service_is_in_order_of_arrival() {
        assert_eq!(order("ffbfb", false), [0, 1, 2, 3, 4]);
    }

    #[test]
    fn destages_yield_to_all_others() {
        assert_eq!(order("bbfbf", true), [0, 2, 4, 1, 3]);
    }
}
