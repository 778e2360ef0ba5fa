//! The back end: the channels between the controller and its disks.
//!
//! ```text
//!   read    disk ──────────────────► done        write   ├─ channel ─┤          the disk starts when its
//!                    ├─ channel ─┤                       └─► disk ────────► done   turn on the channel comes
//! ```
//!
//! A transfer takes `command_overhead + size / bandwidth` of one channel. A disk sends while it reads, and seeks while it
//! receives: so the transfer of a read may begin that long before the media are done, if the channel was free then and the
//! disk served the read already, and a write goes to its disk as soon as its transfer begins, and is done after its end. So
//! reads from a disk's buffer and writes into it take the time of their transfer. Assumed: a write's data arrives before the
//! media need it; disconnection and reselection are part of the overhead.

use super::{ArraySet, Context};
use crate::config;
use crate::disk::{Agenda, BlockDevice as _, Io, Served};
use crate::divisor::Divisor;
use crate::event::Event;
use crate::pipe::Pipe;
use crate::slab::Slab;
use crate::transfer_rate::TransferRate;
use crate::units::{Bytes, SECTOR_BYTES, SimDuration, SimTime};

/// A disk I/O on its way over a channel.
#[derive(Clone, Copy, Debug)]
pub struct Crossing {
    device: u32,
    io: Io,
    /// Whether the disk has served it.
    is_served: bool,
}

/// An I/O that is over after its crossing.
#[derive(Clone, Copy, Debug)]
pub enum Crossed {
    /// One that its disk has served.
    Served(Io),
    /// A write to a disk that has failed.
    Lost {
        /// The failed device.
        device: u32,
        /// The write.
        io: Io,
    },
}

/// The channels and what is on its way over them.
#[derive(Debug)]
pub struct BackEnd {
    /// The channels, those of a group after each other. An I/O takes the one of its disk's group that is free first.
    pipes: Box<[Pipe]>,
    /// Number of groups, to which disks are assigned in turn.
    groups: Divisor,
    /// Channels of each.
    group_size: usize,
    rate: TransferRate,
    command_overhead: SimDuration,
    crossings: Slab<Crossing>,
}

impl BackEnd {
    /// The channels of a configuration.
    pub fn new(config: config::BackEnd) -> Self {
        let (groups, count, bandwidth, command_overhead) = match config {
            config::BackEnd::ScsiBus { channels, bandwidth, command_overhead } => {
                (channels, channels, bandwidth, command_overhead)
            }
            config::BackEnd::Sas { lanes, ports, bandwidth, command_overhead, .. } => {
                (ports, lanes, bandwidth, command_overhead)
            }
        };
        Self {
            pipes: vec![Pipe::default(); count as usize].into(),
            groups: Divisor::new(u64::from(groups)),
            group_size: (count / groups) as usize,
            rate: bandwidth.into(),
            command_overhead,
            crossings: Slab::default(),
        }
    }

    /// Time of `io` on a channel.
    fn service(&self, io: &Io) -> SimDuration {
        self.command_overhead + self.rate.time_for(Bytes(u64::from(io.sectors) * SECTOR_BYTES))
    }

    /// Claims a channel of `device` for `service`, from `earliest` on; returns the end.
    fn claim(&mut self, earliest: SimTime, device: u32, service: SimDuration) -> SimTime {
        let (_, group) = self.groups.div_rem(u64::from(device));
        let first = group as usize * self.group_size;
        let pipes = &mut self.pipes[first..first + self.group_size];
        let Some(pipe) = pipes.iter_mut().min_by_key(|pipe| pipe.free_at()) else {
            unreachable!("a group of a checked back end has a channel")
        };
        pipe.claim(earliest, service)
    }

    /// Claims a channel for a write to its disk; returns whether it has to wait.
    #[inline(never)]
    fn carry_out(&mut self, context: &mut Context, device: u32, io: Io) -> bool {
        let service = self.service(&io);
        let end = self.claim(context.now(), device, service);
        self.hold(context, SimTime(end.0 - service.0), Crossing { device, io, is_served: false })
    }

    /// Claims a channel for what a disk has read; returns whether this, or the data of a write, is still on its way.
    #[inline(never)]
    fn carry_back(&mut self, context: &mut Context, device: u32, Served { io, since }: Served) -> bool {
        let service = self.service(&io);
        let end = if io.is_write {
            since + service
        } else {
            let earliest = SimTime(context.now().0.saturating_sub(service.0));
            self.claim(earliest.max(since), device, service)
        };
        self.hold(context, end, Crossing { device, io, is_served: true })
    }

    /// Holds a crossing until `due`; returns whether that is to come.
    fn hold(&mut self, context: &mut Context, due: SimTime, crossing: Crossing) -> bool {
        let is_to_come = due > context.now();
        if is_to_come {
            context.schedule(due, Event::Channel(self.crossings.insert(crossing)));
        }
        is_to_come
    }

    /// Restarts the measurement of utilisation.
    pub fn reset(&mut self, now: SimTime) {
        for pipe in &mut self.pipes {
            pipe.reset(now);
        }
    }

    /// Power is cut at `now`: I/Os on their way are lost.
    pub fn cut_power(&mut self, now: SimTime) {
        self.crossings = Slab::default();
        for pipe in &mut self.pipes {
            pipe.cut(now);
        }
    }

    /// Busy fraction of the busiest channel.
    pub fn busy_fraction(&self, now: SimTime) -> f64 {
        self.pipes.iter().map(|pipe| pipe.busy_fraction(now)).fold(0.0, f64::max)
    }
}

impl ArraySet {
    /// Sends `io` to its disk, merged with others if I/Os are gathered.
    #[inline]
    pub(super) fn submit(&mut self, context: &mut Context, device: u32, io: Io) {
        if self.idle_delay.is_some() && !io.is_background {
            self.begin_foreground(io.operation);
        }
        if !self.merging.keep(device, io) {
            self.send(context, device, io);
        }
    }

    /// Sends `io`, merged or not, to its disk, over its channel if there is one.
    #[inline]
    pub(super) fn send(&mut self, context: &mut Context, device: u32, io: Io) {
        if let Some(back_end) = &mut self.back_end
            && io.is_write
            && back_end.carry_out(context, device, io)
        {
            return;
        }
        self.start_on_device(context, device, io);
    }

    #[inline]
    fn start_on_device(&mut self, context: &mut Context, device: u32, io: Io) {
        let now = context.now();
        self.loads[device as usize].sectors += u64::from(io.sectors);
        self.devices[device as usize].submit(now, io, &mut Agenda::new(&mut context.events, device));
    }

    /// A disk has served an I/O; returns whether its data is still on the channel, or waits for it.
    #[inline]
    pub fn carry_back(&mut self, context: &mut Context, device: u32, served: Served) -> bool {
        self.back_end.as_mut().is_some_and(|back_end| back_end.carry_back(context, device, served))
    }

    /// A write's turn on its channel has come, or the data of a served I/O has crossed it; returns the I/O if it is over.
    pub fn end_crossing(&mut self, context: &mut Context, crossing: u32) -> Option<Crossed> {
        let Crossing { device, io, is_served } = self.back_end.as_mut()?.crossings.remove(crossing);
        if is_served {
            Some(Crossed::Served(io))
        } else if self.has_failed(device) {
            Some(Crossed::Lost { device, io })
        } else {
            self.start_on_device(context, device, io);
            None
        }
    }
}

#[cfg(test)]
mod tests;
