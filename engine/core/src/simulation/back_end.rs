//! The back end: the channels between the controller and its disks.
//!
//! ```text
//!   read    disk ──────────────────► done        write   ├─ channel ─┤          the disk starts when its
//!                    ├─ channel ─┤                       └─► disk ────────► done   turn on the channel comes
//! ```
//!
//! A transfer takes `command_overhead + size / bandwidth` of one channel. A disk sends while it reads, and seeks while it
//! receives: so the transfer of a read may begin that long before the media are done, where the channel was free then, and
//! a write goes to its disk as soon as its transfer begins. Assumed: the media are no faster than the channel, and a
//! write's data arrive before they are needed; disconnection and reselection are part of the overhead.

use super::Simulation;
use crate::config;
use crate::disk::{Agenda, BlockDevice as _, Io};
use crate::event::Event;
use crate::pipe::Pipe;
use crate::slab::Slab;
use crate::units::{Bandwidth, Bytes, SECTOR_BYTES, SimDuration, SimTime};

/// A disk I/O on its way over a channel.
#[derive(Clone, Copy, Debug)]
pub(super) struct Crossing {
    device: u32,
    io: Io,
}

/// The channels and what is on its way over them.
#[derive(Debug)]
pub(super) struct BackEnd {
    pipes: Box<[Pipe]>,
    /// Whether a disk keeps to its own channel; it takes whichever is free first otherwise.
    is_bus: bool,
    bandwidth: Bandwidth,
    command_overhead: SimDuration,
    crossings: Slab<Crossing>,
}

impl BackEnd {
    /// The channels of a configuration.
    pub fn new(config: config::BackEnd) -> Self {
        let (is_bus, count, bandwidth, command_overhead) = match config {
            config::BackEnd::ScsiBus { channels, bandwidth, command_overhead } => {
                (true, channels, bandwidth, command_overhead)
            }
            config::BackEnd::Sas { lanes, bandwidth, command_overhead } => {
                (false, lanes, bandwidth, command_overhead)
            }
        };
        Self {
            pipes: vec![Pipe::default(); count as usize].into(),
            is_bus,
            bandwidth,
            command_overhead,
            crossings: Slab::default(),
        }
    }

    /// Claims a channel for `io` of `device` from `earliest` on, less the transfer itself where the disk sends while it
    /// reads; gives when the transfer begins and ends.
    fn claim(&mut self, now: SimTime, device: u32, io: &Io) -> (SimTime, SimTime) {
        let size = Bytes(u64::from(io.sectors) * SECTOR_BYTES);
        let service = self.command_overhead + self.bandwidth.time_for(size);
        let earliest = if io.is_write { now } else { SimTime(now.0.saturating_sub(service.0)) };
        let pipe = if self.is_bus {
            let count = self.pipes.len();
            &mut self.pipes[device as usize % count]
        } else {
            let Some(first) = self.pipes.iter_mut().min_by_key(|pipe| pipe.free_at()) else {
                unreachable!("a checked back end has a channel")
            };
            first
        };
        let end = pipe.claim(earliest, service);
        (SimTime(end.0 - service.0), end)
    }

    /// Starts the measurement of use afresh.
    pub fn reset(&mut self, now: SimTime) {
        for pipe in &mut self.pipes {
            pipe.reset(now);
        }
    }

    /// Power is cut at `now`: what is on its way is lost.
    pub fn cut_power(&mut self, now: SimTime) {
        self.crossings = Slab::default();
        for pipe in &mut self.pipes {
            pipe.cut(now);
        }
    }

    /// Busy share of the busiest channel.
    pub fn busy_fraction(&self, now: SimTime) -> f64 {
        self.pipes.iter().map(|pipe| pipe.busy_fraction(now)).fold(0.0, f64::max)
    }
}

impl Simulation {
    /// Sends `io` to its disk, over its channel where there is one.
    #[inline]
    pub(super) fn submit(&mut self, device: u32, io: Io) {
        if self.watches_idleness && !io.is_background {
            self.foreground_begins(io.operation);
        }
        if self.back_end.is_some() && io.is_write && self.waits_for_channel(device, io) {
            return;
        }
        self.start_on_device(device, io);
    }

    /// Claims a channel for a write that goes to its disk or a read that comes from it; gives whether it has to wait.
    #[inline(never)]
    fn waits_for_channel(&mut self, device: u32, io: Io) -> bool {
        let Some(back_end) = &mut self.back_end else { return false };
        let (begin, end) = back_end.claim(self.now, device, &io);
        let due = if io.is_write { begin } else { end };
        if due <= self.now {
            return false;
        }
        let crossing = back_end.crossings.insert(Crossing { device, io });
        self.events.schedule(due, Event::Channel(crossing));
        true
    }

    #[inline]
    fn start_on_device(&mut self, device: u32, io: Io) {
        self.devices[device as usize].submit(self.now, io, &mut Agenda::new(&mut self.events, device));
    }

    /// A disk has finished `io`: its data cross the channel where it read.
    #[inline]
    pub(super) fn leave_device(&mut self, device: u32, io: Io) {
        if self.back_end.is_some() && !io.is_write && self.waits_for_channel(device, io) {
            return;
        }
        self.io_done(io);
    }

    /// A write's turn on its channel has come, or a read's data have crossed it.
    pub(super) fn on_channel(&mut self, crossing: u32) {
        let Some(back_end) = &mut self.back_end else { return };
        let Crossing { device, io } = back_end.crossings.remove(crossing);
        if !io.is_write {
            self.io_done(io);
        } else if self.is_lost(device) {
            self.lose_io(device, io);
        } else {
            self.start_on_device(device, io);
        }
    }
}
