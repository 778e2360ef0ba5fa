//! A solid-state disk: channels of flash dies behind a translation layer and a write buffer.
//!
//! ```text
//!   read   submit ─► die: read ─► channel ─► interface ─► latency ─► done
//!   write  submit ─► room in the buffer ─► interface ─► latency ─► done        (power-loss protection, write cache)
//!                                            └─► channel, die: program ─► commit ─► latency ─► done   (neither, or forced)
//!   flush  submit ─► the programs of what waits ─► commit ─► latency ─► done   (write cache)
//! ```
//!
//! A die does one thing at a time: it reads a page and holds it until the channel has transferred it, receives a page
//! from the channel and programs it, copies a page for garbage collection (reads, channel out and in, one program), or
//! erases a block. Reads are first, foreground before background; then due garbage collection; then programs. While
//! writes wait for room in the buffer, reads alternate with other work. Channels, interface and the commits of the mapping
//! are first come, first served. With a `suspension_time`, a foreground read suspends a program or an erasure, unless
//! writes wait for room; the rest follows when no read waits \[2\].
//!
//! A page is programmed when the buffer holds a full one for the die, or partly filled when nothing else could make room
//! in the buffer, or when a write or a flush waits for it: then with the units that wait when the die is idle. A write of
//! a part of a mapping unit first reads the rest from the flash, on the same die.
//!
//! Assumed: addresses are assigned to dies statically; copies pass through the SSD's processor, without cost there; a
//! page is read whole; retries of different reads are independent. Not modelled: wear, bad blocks, read disturb and refresh,
//! a mapping table that does not fit into the SSD's memory.
//!
//! 1. Agrawal et al.: Design tradeoffs for SSD performance, USENIX ATC 2008.
//! 2. Wu, He: Reducing SSD read latency via NAND flash program and erase suspension, FAST 2012.

mod blocks;
mod dies;
mod model;
#[cfg(debug_assertions)]
mod oracle;
mod reads;
mod steady_state;
mod suspension;
#[cfg(test)]
mod tests;
mod translation;
mod writes;

use std::collections::VecDeque;
use std::sync::Arc;

use super::{Agenda, BlockDevice, Io, Served, Usage};
use crate::pipe::Pipe;
use crate::rng::RandomStream;
use crate::slab::{Link, LinkedQueue, Slab};
use crate::units::{Bytes, Lba, SECTOR_BYTES, Sectors, SimDuration, SimTime};

pub use model::{FlashError, SsdModel};
use translation::Translation;

/// Operations on the flash.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FlashCounts {
    /// Sectors written by the array.
    pub host_sectors: u64,
    /// Sectors of programmed pages.
    pub programmed_sectors: u64,
    /// Units copied by garbage collection.
    pub copied_units: u64,
    /// Erased blocks.
    pub erases: u64,
}

/// Location of a unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// In the write buffer.
    Buffered,
    /// On the flash, at a known place.
    Flash(u32),
    /// On the flash, where the initial state put it.
    Initial,
    /// Never written.
    Unwritten,
}

/// The kind of an entry of the agenda, in the low bits of its slot; its index is in the high bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// A die finished its work.
    Die,
    /// The channel transferred the page that a die read.
    Channel,
    /// A piece of a write crossed the interface.
    Received,
    /// A command completed.
    Done,
}

const STAGE_BITS: u32 = 2;

const fn slot(stage: Stage, index: u32) -> u32 {
    index << STAGE_BITS | stage as u32
}

/// An I/O in progress.
#[derive(Clone, Copy, Debug)]
struct Command {
    io: Io,
    arrived: SimTime,
    /// Unfinished page reads, pieces or units.
    pending: u32,
    /// Whether its command crossed the interface.
    is_announced: bool,
    /// Units of a write admitted to the buffer.
    admitted: u32,
    next: Link,
}

/// Reads of the pages of one logical page.
#[derive(Clone, Copy, Debug)]
struct PageRead {
    command: u32,
    pages: u32,
    sectors: u32,
    arrival: u64,
    next: Link,
}

/// Units of a write on their way into the buffer.
#[derive(Clone, Copy, Debug)]
struct Piece {
    command: u32,
    first: u32,
    count: u32,
}

/// A unit that waits in the buffer.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    unit: u32,
    /// The command that waits for it.
    command: Link,
    /// Its written sectors: the first, and the one after the last.
    sectors: (u8, u8),
    /// Whether it must be completed by a read of the flash.
    is_part: bool,
}

/// A flush that waits for a die.
#[derive(Clone, Copy, Debug)]
struct Flush {
    command: u32,
    /// Units that must be programmed before, the first ones that wait.
    units: u32,
}

/// The work of a die.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Work {
    Nothing,
    /// Reads pages, then waits for the channel.
    Read(u32),
    /// Programs this number of the first waiting units.
    Program(u32),
    /// Reads this number of units to copy.
    Copy(u32),
    /// Programs the copied units, or erases.
    Collect,
}

/// A program or an erasure that a read interrupted.
#[derive(Clone, Copy, Debug)]
struct Suspended {
    work: Work,
    rest: SimDuration,
}

/// No time at which a die is done.
const NEVER: SimTime = SimTime(u64::MAX);

#[derive(Debug)]
struct Die {
    work: Work,
    /// When its array of cells began to be programmed or erased.
    begun: SimTime,
    /// When it is done with its cells; entries of the agenda for other times are void.
    due: SimTime,
    suspended: Option<Suspended>,
    foreground: LinkedQueue,
    background: LinkedQueue,
    waiting: VecDeque<Waiting>,
    /// Number of the first waiting units for which a write or a flush waits.
    urgent: u32,
    flushes: VecDeque<Flush>,
    has_just_read: bool,
    /// Copies of the current victim so far.
    copies: u32,
}

impl Die {
    fn idle() -> Self {
        Self {
            work: Work::Nothing,
            begun: SimTime::ZERO,
            due: NEVER,
            suspended: None,
            foreground: LinkedQueue::default(),
            background: LinkedQueue::default(),
            waiting: VecDeque::new(),
            urgent: 0,
            flushes: VecDeque::new(),
            has_just_read: false,
            copies: 0,
        }
    }
}

/// One SSD.
#[derive(Debug)]
pub struct Ssd {
    model: Arc<SsdModel>,
    translation: Translation,
    dies: Box<[Die]>,
    channels: Box<[Pipe]>,
    /// Directions for reads and writes; only the first with a half-duplex interface.
    interface: [Pipe; 2],
    /// Commits of the mapping table.
    mapping: Pipe,
    commands: Slab<Command>,
    reads: Slab<PageRead>,
    pieces: Slab<Piece>,
    /// Writes that wait, wholly or partly, for room in the buffer.
    entering: LinkedQueue,
    /// Free units of the buffer.
    room: u32,
    /// Dies that program, copy or erase.
    writing: u32,
    arrivals: u64,
    usage: Usage,
    /// Draws of the reads that are repeated.
    retries: RandomStream,
}

impl Ssd {
    /// An SSD of `model` in its initial `state`; random choices of places are drawn from `stream`, of reads that are
    /// repeated from `retries`.
    pub fn new(model: Arc<SsdModel>, state: &[u32], stream: RandomStream, retries: RandomStream) -> Self {
        Self {
            translation: Translation::new(&model, state, stream),
            dies: (0..model.dies).map(|_| Die::idle()).collect(),
            channels: vec![Pipe::default(); model.channels as usize].into(),
            interface: [Pipe::default(); 2],
            mapping: Pipe::default(),
            commands: Slab::default(),
            reads: Slab::default(),
            pieces: Slab::default(),
            entering: LinkedQueue::default(),
            room: model.buffer_units,
            writing: 0,
            arrivals: 0,
            usage: Usage::of_flash(model.dies),
            retries,
            model,
        }
    }

    /// Reserves the interface for `sectors` of a command; returns the end of the transfer.
    #[inline]
    fn cross(&mut self, now: SimTime, command: u32, sectors: u32) -> SimTime {
        let interface = &self.model.interface;
        let command = &mut self.commands[command];
        let is_write = command.io.is_write;
        let rate = if is_write { interface.write_rate } else { interface.read_rate };
        let mut time = rate.map_or(SimDuration::ZERO, |rate| rate.time_for(bytes(sectors)));
        if !command.is_announced {
            command.is_announced = true;
            time += interface.command_overhead;
            if is_write {
                time += interface.write_overhead;
            }
        }
        let direction = usize::from(is_write && !interface.half_duplex);
        self.interface[direction].claim(now, time)
    }

    /// Completes a command at `time`, immediately if that is now.
    #[inline]
    fn complete(
        &mut self,
        now: SimTime,
        time: SimTime,
        command: u32,
        agenda: &mut Agenda<'_>,
    ) -> Option<Served> {
        if time > now {
            agenda.schedule(time, slot(Stage::Done, command));
            return None;
        }
        Some(self.leave(now, command))
    }

    fn leave(&mut self, now: SimTime, command: u32) -> Served {
        self.usage.depart(now);
        let Command { io, arrived, .. } = self.commands.remove(command);
        Served { io, since: arrived }
    }

    /// The first and last unit of `sectors` sectors from `lba`.
    #[inline]
    fn units(&self, lba: Lba, sectors: u32) -> (u32, u32) {
        let unit = u64::from(self.model.unit_sectors);
        ((lba.0 / unit) as u32, ((lba.0 + u64::from(sectors).max(1) - 1) / unit) as u32)
    }
}

const fn bytes(sectors: u32) -> Bytes {
    Bytes(sectors as u64 * SECTOR_BYTES)
}

impl BlockDevice for Ssd {
    #[inline]
    fn submit(&mut self, now: SimTime, io: Io, agenda: &mut Agenda<'_>) {
        self.usage.arrive(now);
        self.usage.count(io.is_write);
        let (first, last) = self.units(io.lba, io.sectors);
        let command =
            Command { io, arrived: now, pending: 0, is_announced: false, admitted: 0, next: Link::END };
        let command = self.commands.insert(command);
        if !io.is_write {
            self.submit_read(now, command, agenda);
        } else if io.sectors == 0 {
            self.flush(now, command, agenda);
        } else {
            self.usage.record_flash(|flash| flash.host_sectors += u64::from(io.sectors));
            self.commands[command].pending = last - first + 1;
            self.entering.push(&mut self.commands, command, |command| &mut command.next);
            self.admit(now, agenda);
            self.relieve(now, agenda);
        }
    }

    #[inline]
    fn act(&mut self, now: SimTime, slot: u32, yields: bool, agenda: &mut Agenda<'_>) -> Option<Served> {
        let index = slot >> STAGE_BITS;
        match slot & ((1 << STAGE_BITS) - 1) {
            0 => self.die_done(now, index, yields, agenda),
            1 => self.page_read(now, index, yields, agenda),
            2 => self.received(now, index, agenda),
            _ => Some(self.leave(now, index)),
        }
    }

    #[inline]
    fn usage(&self) -> &Usage {
        &self.usage
    }

    #[inline]
    fn usage_mut(&mut self) -> &mut Usage {
        &mut self.usage
    }

    fn is_volatile(&self) -> bool {
        self.model.is_volatile
    }

    #[cfg(debug_assertions)]
    fn check(&self) {
        self.translation.check();
    }

    /// Protected data in the buffer reach the flash with stored power; all other commands are not completed.
    fn fail(&mut self, now: SimTime) -> Vec<Io> {
        let unfinished = self.commands.iter().map(|command| command.io).collect();
        self.lose_power(now, &mut |_, _| ());
        unfinished
    }

    /// Unprotected units keep their old version, which the map finds as if it had been written again.
    fn lose_power(&mut self, now: SimTime, lose: &mut dyn FnMut(Lba, Sectors)) {
        self.usage.cut(now);
        for die in 0..self.model.dies {
            let before = std::mem::replace(&mut self.dies[die as usize], Die::idle());
            let programmed = before.programming();
            let Die { waiting, .. } = before;
            for (index, waiting) in waiting.iter().enumerate() {
                if waiting.command.get().is_some() {
                    continue;
                }
                if self.model.is_volatile {
                    let (first, end) = waiting.sectors;
                    let unit = u64::from(waiting.unit) * u64::from(self.model.unit_sectors);
                    lose(Lba(unit + u64::from(first)), Sectors(u64::from(end - first)));
                }
                if index >= programmed {
                    self.program_without_time(die, waiting.unit);
                }
            }
            self.translation.pad(die);
        }
        for pipe in self.channels.iter_mut().chain(&mut self.interface).chain([&mut self.mapping]) {
            pipe.cut(now);
        }
        (self.commands, self.reads, self.pieces) = (Slab::default(), Slab::default(), Slab::default());
        self.entering = LinkedQueue::default();
        (self.room, self.writing) = (self.model.buffer_units, 0);
    }
}
