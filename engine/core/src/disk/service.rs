//! Service of one I/O by a drive: from its buffer, into it, or on the media.
//!
//! ```text
//!   read  ── all in the buffer, or about to be ─► hit time + max(bus, what is still to pass the head)
//!         ── the rest, or all ─► command + move + wait + max(media, bus), then reading ahead
//!   write ── write cache on, not forced ─► write time + bus; it goes to the media when the arm is idle
//!         ── else ─► command + move + wait + max(media, bus)
//!   flush ── when all that was written is on the media
//! ```
//!
//! Work of the arm between I/Os needs no events: it is computed when the next I/O needs the arm. The read-ahead is
//! first; when it reaches its limit, dirty segments follow, nearest in time first, unless an I/O could still precede
//! them. An I/O that needs the arm ends a read-ahead immediately, and waits for a segment in flight to the media.

use super::buffer::{Buffer, Found, Mark};
use super::drive::Drive;
use super::queue::Waiting;
use super::{Io, ROUNDING, Served, count};
use crate::config::QueuePolicy;
use crate::units::{Lba, SimDuration, SimTime};

/// Times of an I/O on the media.
#[derive(Clone, Copy, Debug)]
pub(super) struct Access {
    /// The head is on the track.
    pub arrived: SimTime,
    /// The first sector begins to pass the head.
    pub start: SimTime,
    /// The last sector has passed it.
    pub end: SimTime,
}

impl Drive {
    /// An I/O with its location on the disk.
    #[inline]
    pub(super) fn place(&self, entered: SimTime, io: Io) -> Waiting {
        let location = self.model.geometry.locate(io.lba);
        let angle_ns = ((u64::from(location.angle) * self.revolution.get()) >> 32) as u32;
        let mark = self.buffer.as_ref().map_or(Mark::WRITE, |buffer| buffer.mark_of(&io));
        Waiting { io, entered, taken_before: 0, location, mark, angle_ns, goes_on: false }
    }

    /// Rotation of the spindle at `time` since the index mark was first under the head, whole turns included \[ns\].
    #[inline]
    pub(super) const fn turned(&self, time: SimTime) -> u64 {
        time.0 + self.phase
    }

    /// Time to bring the head to the track, settled \[ns\].
    #[inline]
    pub(super) fn moving(&self, waiting: &Waiting) -> u64 {
        let distance = waiting.location.cylinder.abs_diff(self.cylinder);
        if distance == 0 || waiting.io.lba == self.head_lba {
            return self.moving_near(waiting, distance);
        }
        // Reads and writes wait in no order that a processor could predict.
        self.model.seek.time(distance).0 + self.model.after_seek[usize::from(waiting.io.is_write)]
    }

    /// [`Self::moving`] within a cylinder, or to the sector after the last one that passed the head.
    fn moving_near(&self, waiting: &Waiting, distance: u32) -> u64 {
        let model = &*self.model;
        // Within one write the skews cover the switches and their settling, so they do between two that are adjacent.
        let settles = waiting.io.is_write && waiting.io.lba != self.head_lba;
        let settle = if settles { model.write_settle } else { 0 };
        if distance > 0 {
            let overhead = if waiting.io.is_write { model.write_overhead } else { 0 };
            return model.seek.time(distance).0 + settle + overhead;
        }
        let is_other_surface = waiting.location.surface != self.surface;
        match (waiting.io.is_write, is_other_surface) {
            (true, true) => model.head_switch + settle + model.write_overhead,
            (true, false) => model.write_overhead,
            (false, true) => model.read_switch,
            (false, false) if self.has_written => model.read_settle,
            (false, false) => 0,
        }
    }

    /// Time until the first sector is under the head, if the spindle has `turned` this far now and the move takes
    /// `moving` \[ns\].
    #[inline]
    pub(super) fn positioning(&self, turned: u64, moving: u64, waiting: &Waiting) -> u64 {
        let (wait, _) = self.wait(turned + moving, waiting);
        moving + wait
    }

    /// Time until the first sector is under the head when the spindle has `turned` this far, less than a turn, and how late
    /// the head is: one that is late by the rounding of times has not missed the sector \[ns\].
    #[inline]
    fn wait(&self, turned: u64, waiting: &Waiting) -> (u64, u64) {
        let revolution = self.revolution.get();
        let (_, passed) = self.revolution.div_rem(turned + revolution - u64::from(waiting.angle_ns));
        if passed <= ROUNDING.0 { (0, passed) } else { (revolution - passed, 0) }
    }

    /// Starts the service of `waiting`; returns its completion time. If `is_fresh`, its command time did not overlap another
    /// I/O.
    #[expect(clippy::inline_always, reason = "an I/O that goes straight into service stays in registers")]
    #[inline(always)]
    pub(super) fn start(&mut self, now: SimTime, waiting: Waiting, is_fresh: bool) -> SimTime {
        let io = waiting.io;
        if io.sectors > 0 {
            self.usage.begin(io.is_write);
        } else {
            self.usage.occupy(now);
        }
        self.current = Some(Served { io, since: if io.is_write { waiting.entered } else { now } });
        if self.model.policy == QueuePolicy::Look && io.lba != self.next_lba {
            self.is_upwards = io.lba > self.next_lba;
        }
        self.next_lba = io.lba + count(&io);
        if self.buffer.is_some() {
            return self.serve_buffered(now, waiting, is_fresh);
        }
        let command = if is_fresh { self.model.command_time } else { SimDuration::ZERO };
        let mut access = self.reach(now + command, &waiting);
        self.sent_by(now + command, &mut access, &io)
    }

    /// Time of an I/O's data on the drive's interface.
    #[inline]
    fn on_bus(&self, io: &Io) -> SimDuration {
        self.model.bus_rate.map_or(SimDuration::ZERO, |rate| rate.time_for(count(io).bytes()))
    }

    /// Time at which an I/O is past the head and on the interface, which is free from `ready` on. A write whose last sector
    /// passes before its data have come is written turns later.
    #[inline]
    fn sent_by(&self, ready: SimTime, access: &mut Access, io: &Io) -> SimTime {
        if io.is_write && self.model.takes_early {
            let late = (ready + self.on_bus(io)).since(access.end).0;
            access.end += SimDuration(late.div_ceil(self.revolution.get()) * self.revolution.get());
            return access.end;
        }
        let mut from = access.start;
        if !io.is_write && self.model.send_after > 0.0 {
            from += SimDuration((access.end.since(access.start).0 as f64 * self.model.send_after) as u64);
        }
        (from + self.on_bus(io)).max(access.end)
    }

    /// Moves the head to the first sector and past the last.
    #[expect(clippy::inline_always, reason = "as for `start`, of which it is the half that counts")]
    #[inline(always)]
    fn reach(&mut self, ready: SimTime, waiting: &Waiting) -> Access {
        if waiting.io.sectors == 0 {
            return Access { arrived: ready, start: ready, end: ready };
        }
        let moving = self.moving(waiting);
        let (wait, late) = self.wait(self.turned(ready) + moving, waiting);
        let transfer = self.model.geometry.transfer(
            &waiting.location,
            count(&waiting.io),
            SimDuration(self.revolution.get()),
        );
        self.cylinder = transfer.cylinder;
        self.surface = transfer.surface;
        self.has_written = waiting.io.is_write;
        self.head_lba = waiting.io.lba + count(&waiting.io);
        let start = ready + SimDuration(moving + wait);
        // The last sector passes when the platter turns, so that the rounding of a long stream does not add up.
        let end = start + SimDuration(transfer.time.0.saturating_sub(late));
        Access { arrived: ready + SimDuration(moving), start, end }
    }

    /// Serves an I/O of a drive with a buffer. The I/O is passed by value, so that a drive without a buffer keeps it in registers.
    #[inline(never)]
    fn serve_buffered(&mut self, now: SimTime, waiting: Waiting, is_fresh: bool) -> SimTime {
        let Some(mut buffer) = self.buffer.take() else { unreachable!("it has a buffer") };
        let done = self.serve(&mut buffer, now, &waiting, is_fresh);
        self.buffer = Some(buffer);
        done
    }

    fn serve(&mut self, buffer: &mut Buffer, now: SimTime, waiting: &Waiting, is_fresh: bool) -> SimTime {
        let io = waiting.io;
        let processing = |time: SimDuration| if is_fresh { time } else { SimDuration::ZERO };
        let command = processing(self.model.command_time);
        let (first, end) = (io.lba.0, io.lba.0 + u64::from(io.sectors));
        // The choice among several I/Os has done it already.
        if !std::mem::take(&mut buffer.is_current) {
            self.idle(buffer, now);
        }
        if !io.is_write {
            return self.serve_read(buffer, now, waiting, is_fresh);
        }
        if io.sectors == 0 {
            self.destage_all(buffer);
            return (now + command).max(buffer.idle_from);
        }
        if buffer.takes(&io) {
            let accepted = self.take_in(buffer, now, first, end);
            return (now + processing(buffer.write_time)).max(accepted) + self.on_bus(&io);
        }
        let ready = self.take_arm(buffer, now, first, end) + command;
        buffer.forget(first, end);
        let mut access = self.reach(ready, waiting);
        let done = self.sent_by(ready, &mut access, &io);
        buffer.idle_from = access.end;
        done
    }

    fn serve_read(
        &mut self,
        buffer: &mut Buffer,
        now: SimTime,
        waiting: &Waiting,
        is_fresh: bool,
    ) -> SimTime {
        let io = waiting.io;
        let processing = |time: SimDuration| if is_fresh { time } else { SimDuration::ZERO };
        let command = processing(self.model.command_time);
        let (first, end) = (io.lba.0, io.lba.0 + u64::from(io.sectors));
        let track = u64::from(waiting.location.sectors_per_track);
        let from = match buffer.find(first, end, now, track) {
            Found::All { ready } => {
                self.read_on(buffer, now, end);
                return (now + processing(buffer.hit_time) + self.on_bus(&io)).max(ready);
            }
            Found::UpTo(held) => held,
            Found::Nothing => first,
        };
        let ready = self.take_arm(buffer, now, from, end) + command;
        while !buffer.has_room(buffer.idle_from) {
            self.destage_nearest(buffer);
        }
        let ready = ready.max(buffer.idle_from + command);
        let rest = Io { lba: Lba(from), sectors: (end - from) as u32, ..io };
        let rest = if from == first { *waiting } else { self.place(now, rest) };
        let mut access = self.reach(ready, &rest);
        self.fill(buffer, &rest, &mut access, end);
        // The bus transfers all of it, the media the part that was not in the buffer.
        self.sent_by(ready, &mut access, &rest.io).max(ready + self.on_bus(&io))
    }

    /// Computes the work of the arm up to `now` without I/Os.
    pub(super) fn idle(&mut self, buffer: &mut Buffer, now: SimTime) {
        buffer.arrive(now);
        if let Some(done) = buffer.advance_fill(now) {
            if !buffer.has_dirty() {
                return;
            }
            self.leave_fill(buffer);
            buffer.idle_from = buffer.idle_from.max(done);
        } else if buffer.is_filling(now) {
            return;
        }
        while buffer.idle_from < now && self.destage_nearest(buffer) {}
    }

    /// Sets the arm to the position of its read-ahead.
    fn leave_fill(&mut self, buffer: &mut Buffer) {
        if let Some(sector) = buffer.head() {
            let place = self.model.geometry.locate(Lba(sector));
            (self.cylinder, self.surface, self.has_written) = (place.cylinder, place.surface, false);
            self.head_lba = Lba(sector + 1);
        }
        buffer.end_fill();
    }

    /// Stops the arm's own work, after older data of `first..end` are on the media; returns the time.
    fn take_arm(&mut self, buffer: &mut Buffer, now: SimTime, first: u64, end: u64) -> SimTime {
        self.leave_fill(buffer);
        buffer.idle_from = buffer.idle_from.max(now);
        while let Some(index) = buffer.dirty_overlap(first, end) {
            self.destage(buffer, index, now);
        }
        buffer.idle_from
    }

    /// Puts a write into the buffer; returns the time at which it has room.
    fn take_in(&mut self, buffer: &mut Buffer, now: SimTime, first: u64, end: u64) -> SimTime {
        buffer.forget(first, end);
        if buffer.merge_write(first, end) {
            return now;
        }
        let mut accepted = now;
        let is_in_the_way = buffer.dirty_overlap(first, end).is_some();
        if is_in_the_way || !buffer.has_room(now) {
            self.leave_fill(buffer);
            buffer.idle_from = buffer.idle_from.max(now);
            while let Some(index) = buffer.dirty_overlap(first, end) {
                self.destage(buffer, index, now);
            }
            if !buffer.has_room(buffer.idle_from) {
                self.destage_nearest(buffer);
            }
            accepted = buffer.idle_from;
        } else if !buffer.is_filling(now) {
            // The arm can start with it now at the earliest.
            buffer.idle_from = buffer.idle_from.max(now);
        }
        buffer.take_write(first, end, accepted);
        accepted
    }

    /// Writes all dirty segments to the media.
    fn destage_all(&mut self, buffer: &mut Buffer) {
        if buffer.has_dirty() {
            self.leave_fill(buffer);
        }
        while self.destage_nearest(buffer) {}
    }

    /// Writes the dirty segment that is nearest in time; returns whether there was one.
    fn destage_nearest(&mut self, buffer: &mut Buffer) -> bool {
        let turned = self.turned(buffer.idle_from);
        let nearest = buffer.dirty().min_by_key(|&(_, segment)| {
            let waiting = self.write_of(segment.start, segment.end, buffer.idle_from);
            self.positioning(turned, self.moving(&waiting), &waiting)
        });
        let Some((index, _)) = nearest else { return false };
        self.destage(buffer, index, buffer.idle_from);
        true
    }

    fn destage(&mut self, buffer: &mut Buffer, index: usize, from: SimTime) {
        let Some((_, segment)) = buffer.dirty().find(|&(at, _)| at == index) else { return };
        let from = from.max(buffer.idle_from);
        let waiting = self.write_of(segment.start, segment.end, from);
        buffer.idle_from = self.reach(from, &waiting).end;
        buffer.clean(index);
    }

    /// The write of a dirty segment.
    fn write_of(&self, first: u64, end: u64, now: SimTime) -> Waiting {
        let sectors = (end - first) as u32;
        self.place(
            now,
            Io {
                lba: Lba(first),
                sectors,
                is_write: true,
                is_background: true,
                is_forced: false,
                operation: 0,
            },
        )
    }
}
