//! The steps of array operations: reads of pieces, stripe writes, flushes, and the disk I/Os of each step.

use super::lock_range::LockRange;
use super::operation::{ArrayOperation, Kind, Parent, PlannedIo};
use super::redundancy::MemberState;
use super::stripe_write::DiskIo;
use super::{ArraySet, Context};
use crate::disk::{Agenda, BlockDevice as _, Io, Served};
use crate::event::Event;
use crate::mutation::Mutation;
use crate::raid::{Piece, Update};
use crate::slab::{Link, Slab};
use crate::units::{Lba, Sectors, SimTime};
use crate::write_cache::Extent;

impl ArraySet {
    /// Reads an extent of an array.
    pub fn read(&mut self, context: &mut Context, array: u16, extent: Extent, parent: Parent) {
        let operation = self.operations.insert(ArrayOperation::new(array, Kind::Read, parent));
        let state = &self[array];
        context.probe.watch(|oracle| oracle.begin_read(operation, array, &state.layout, extent));
        // A read of more than the strips of a stripe but one may have two strips on a disk, which are adjacent.
        let layout = &state.layout;
        let may_merge = extent.sectors.0 > layout.stripe_sectors().0 - layout.stripe_unit().0;
        let gathers = may_merge && !layout.is_one_column() && self.gather();
        if self[array].is_as_built {
            self.read_pieces(context, operation, array, extent);
        } else {
            self.read_degraded(context, operation, extent);
        }
        if gathers {
            self.send_gathered(context);
        }
    }

    /// Reads an extent of an array whose disks are all there.
    #[inline]
    fn read_pieces(&mut self, context: &mut Context, operation: u32, array: u16, extent: Extent) {
        let first = self[array].layout.first_piece(extent.lba, extent.sectors);
        self.read_piece(context, operation, array, &first);
        // Few reads go beyond one strip.
        if first.sectors < extent.sectors {
            let layout = self[array].layout;
            for piece in layout.pieces(extent.lba, extent.sectors).skip(1) {
                self.read_piece(context, operation, array, &piece);
            }
        }
    }

    /// Reads a piece of one strip, from the better of two mirrors.
    #[inline]
    fn read_piece(&mut self, context: &mut Context, operation: u32, array: u16, piece: &Piece) {
        let state = &self[array];
        let (first_device, strip) = (state.first_device, &piece.strip);
        let device = first_device + strip.disk;
        let io = read_io(strip.disk_lba, piece.sectors, operation);
        let device = match state.layout.mirror(strip.disk) {
            Some(mirror) => self.better_mirror(device, first_device + mirror, &io),
            None => device,
        };
        self.operations[operation].pending += 1;
        self.submit(context, device, io);
    }

    /// Writes `extents`, all within `stripe`, to the media if `is_forced`. It waits for writes in progress of the same
    /// sectors or the same parity. Returns how parity is updated, if the level has parity.
    pub fn write_stripe(
        &mut self,
        context: &mut Context,
        (array, stripe): (u16, u64),
        extents: &[Extent],
        parent: Parent,
        is_forced: bool,
    ) -> Option<Update> {
        let state = &self.arrays[array as usize];
        let update = self.stripe_write.plan(&state.layout, state.parity_update, stripe, extents);
        context.probe.mutate_stripe_write(&mut self.stripe_write);
        let is_as_built = state.is_as_built;
        let range = LockRange::of(&state.layout, stripe, extents);
        let parity_input = self.timed_parity(context, self.stripe_write.parity_input());
        let operation = self.operations.insert(ArrayOperation {
            range: Some(range),
            parity_input,
            has_gaps: self.stripe_write.has_gaps(),
            ..ArrayOperation::new(array, Kind::Write, parent)
        });
        let layout = &self.arrays[array as usize].layout;
        context.probe.watch(|oracle| oracle.plan_array_write(operation, array, layout, parent, extents));
        let may_start = self.lock(context, operation, range);
        let step = |is_write: bool| Io {
            lba: Lba(0),
            sectors: 0,
            is_write,
            is_background: matches!(parent, Parent::Destage { .. }),
            is_forced: is_write && is_forced,
            operation,
        };
        let Self { stripe_write: write, planned, operations, .. } = self;
        let has_reads = !write.reads.is_empty();
        // The first step of an operation that may start is not planned but issued, unless its parity comes first.
        let is_immediate = may_start && is_as_built && (has_reads || parity_input == Sectors(0));
        // On an array that is not as built, reads are planned when the operation holds the stripe.
        if is_as_built && !is_immediate {
            operations[operation].first = plan_step(planned, &write.reads, step(false));
        }
        if has_reads || !is_immediate {
            operations[operation].second = plan_step(planned, &write.writes, step(true));
        }
        if is_immediate {
            context.probe.watch(|oracle| oracle.begin_write(operation));
            if !has_reads {
                let writes = &write.writes;
                context.probe.watch(|oracle| {
                    let parts = writes.iter().map(|io| (io.disk, io.lba, io.sectors));
                    oracle.contents.compute(operation, parts);
                });
            }
            self.issue_planned_write(context, array, step(!has_reads));
        } else if may_start {
            self.start(context, operation);
        }
        update
    }

    /// Issues the reads or the writes of the planned stripe write, each otherwise like `io`.
    #[inline]
    fn issue_planned_write(&mut self, context: &mut Context, array: u16, io: Io) {
        let first_device = self[array].first_device;
        let count = self.stripe_write.step(io.is_write).len();
        self.operations[io.operation].pending = count as u32;
        for index in 0..count {
            let disk_io = self.stripe_write.step(io.is_write)[index];
            self.submit(context, first_device + disk_io.disk, disk_io.of(io));
        }
    }

    /// Flushes the write caches of an array's devices for a request; returns false if they have none.
    pub fn flush_devices(&mut self, context: &mut Context, array: u16, request: u32) -> bool {
        let state = &self[array];
        if !state.is_volatile || context.probe.has(Mutation::UnflushedDrives) {
            return false;
        }
        let members = state.redundancy.members.iter();
        let devices: Vec<_> = members
            .filter(|member| !matches!(member.state, MemberState::Missing))
            .map(|member| member.device)
            .collect();
        let operation = self.operations.insert(ArrayOperation {
            pending: devices.len() as u32,
            ..ArrayOperation::new(array, Kind::Flush, Parent::Flush { request })
        });
        context.probe.watch(|oracle| oracle.contents.volatile.begin_flush(operation));
        let io =
            Io { lba: Lba(0), sectors: 0, is_write: true, is_background: false, is_forced: true, operation };
        for device in devices {
            self.submit(context, device, io);
        }
        true
    }

    /// Locks a range for an operation; returns whether it holds the range, rather than waiting for it.
    pub(super) fn lock(&mut self, context: &Context, operation: u32, range: LockRange) -> bool {
        let range =
            if context.probe.has(Mutation::OverlappingWrites) { range.without_overlap() } else { range };
        let array = self.operations[operation].array as usize;
        self.arrays[array].locks.lock(&mut self.operations, operation, &range)
    }

    /// Starts an operation that holds its range.
    pub(super) fn start(&mut self, context: &mut Context, operation: u32) {
        let entry = &self.operations[operation];
        if entry.kind == Kind::Write {
            context.probe.watch(|oracle| oracle.begin_write(operation));
        }
        let keeps_plan = context.probe.has(Mutation::OutdatedPlan) && entry.first != Link::END;
        if !self[entry.array].is_as_built && !keeps_plan {
            self.plan_reads(context, operation);
        }
        let has_ended = self.go_on(context, operation);
        debug_assert!(!has_ended, "an operation that starts has disk I/Os");
    }

    /// Issues the next step of an operation; returns whether there is none, so that it has ended.
    #[inline]
    pub fn go_on(&mut self, context: &mut Context, operation: u32) -> bool {
        let entry = &mut self.operations[operation];
        if entry.is_overtaken {
            entry.is_overtaken = false;
            self.plan_reads(context, operation);
        } else if entry.is_issued() {
            return true;
        }
        !self.issue_step(context, operation)
    }

    /// Issues the I/Os of the next step of an operation, after its parity if computing that takes time; gives
    /// whether there are any.
    fn issue_step(&mut self, context: &mut Context, operation: u32) -> bool {
        let entry = &mut self.operations[operation];
        let mut link = std::mem::replace(&mut entry.first, Link::END);
        if link == Link::END {
            let input = std::mem::replace(&mut entry.parity_input, Sectors(0));
            if input > Sectors(0) {
                if self.merging.keep_parity(operation, input) {
                    return true;
                }
                let done = self.compute_parity(context, 1, self.xor_time(input));
                context.schedule(done, Event::Parity(operation));
                return true;
            }
            link = std::mem::replace(&mut entry.second, Link::END);
            self.watch_second_step(context, operation, link);
        }
        let state = &self[self.operations[operation].array];
        if !state.is_as_built {
            return self.issue_degraded(context, operation, link);
        }
        let first_device = state.first_device;
        let any = link != Link::END;
        while let Some(index) = link.get() {
            let planned = self.planned.remove(index);
            link = planned.next;
            self.operations[operation].pending += 1;
            self.submit(context, first_device + planned.disk, planned.io);
        }
        any
    }

    /// Reports to the oracle the writes that an operation issues from `link` on.
    #[inline]
    fn watch_second_step(&self, context: &mut Context, operation: u32, link: Link) {
        context.probe.watch(|oracle| {
            let entry = &self.operations[operation];
            let state = &self[entry.array];
            let writes = std::iter::successors(link.get(), |&index| self.planned[index].next.get())
                .map(|index| &self.planned[index])
                .filter(|write| state.is_as_built || state.target(entry, write).is_some())
                .map(|write| (write.disk, write.io.lba, Sectors(u64::from(write.io.sectors))));
            if matches!(entry.kind, Kind::Write | Kind::Rebuild) && link != Link::END {
                oracle.contents.compute(operation, writes);
            }
        });
    }

    /// Issues the I/Os from `link` on to the disks that are there; returns whether there are any.
    fn issue_degraded(&mut self, context: &mut Context, operation: u32, mut link: Link) -> bool {
        while let Some(index) = link.get() {
            let planned = self.planned.remove(index);
            link = planned.next;
            let entry = &self.operations[operation];
            let state = &self[entry.array];
            // The wanted parts of a locked read are decoded from what it has read.
            let is_wanted = entry.kind == Kind::LockedRead && entry.is_issued();
            let is_omitted = planned.io.is_write && context.probe.omits(state, &planned);
            if !is_wanted
                && !is_omitted
                && let Some(device) = state.target(entry, &planned)
            {
                self.operations[operation].pending += 1;
                self.submit(context, device, planned.io);
            }
        }
        self.operations[operation].pending > 0
    }

    /// A device acts on one of its slots; returns the I/O that it completes, if any.
    #[inline]
    pub fn act(&mut self, context: &mut Context, device: u32, slot: u32, yields: bool) -> Option<Served> {
        let now = context.now();
        let mut agenda = Agenda::new(&mut context.events, device);
        let served = self.devices[device as usize].act(now, slot, yields, &mut agenda)?;
        let io = served.io;
        self.loads[device as usize].sectors -= u64::from(io.sectors);
        context.probe.watch(|oracle| {
            let is_volatile = self.devices[device as usize].is_volatile();
            let place = (device, self.places[device as usize].disk);
            oracle.end_merged(place, &io, self.merging.parts_of(io), is_volatile);
        });
        Some(served)
    }

    /// An I/O of an array operation has ended; returns whether it was the last of its step.
    #[inline]
    pub fn end_io(&mut self, context: &mut Context, io: Io) -> bool {
        if self.idle_delay.is_some() && !io.is_background {
            self.end_foreground(context, io.operation);
        }
        self.end_part(io.operation)
    }

    /// A part of an operation has ended; returns whether it was the last of its step.
    #[inline]
    pub fn end_part(&mut self, operation: u32) -> bool {
        let entry = &mut self.operations[operation];
        entry.pending -= 1;
        entry.pending == 0
    }

    /// Removes an operation that has ended.
    #[inline]
    pub fn remove(&mut self, operation: u32) -> ArrayOperation {
        self.operations.remove(operation)
    }

    /// Releases the range of an operation that was removed as `done`: those that waited for it start, in order.
    pub fn unlock(&mut self, context: &mut Context, operation: u32, done: &ArrayOperation, range: LockRange) {
        let array = done.array as usize;
        let Self { arrays, operations, .. } = self;
        if !arrays[array].locks.release(operations, range.stripe, operation, done.next) {
            return;
        }
        while let Some(next) = self.arrays[array].locks.hand_over(&mut self.operations, range.stripe) {
            self.start(context, next);
        }
    }

    /// A foreground I/O of an operation goes to its disk.
    pub(super) fn begin_foreground(&mut self, operation: u32) {
        let array = self.operations[operation].array;
        self[array].idleness.foreground += 1;
    }

    /// A foreground I/O of an operation has ended: after the last one its array begins to be idle.
    pub(super) fn end_foreground(&mut self, context: &mut Context, operation: u32) {
        let array = self.operations[operation].array;
        let idleness = &mut self[array].idleness;
        idleness.foreground -= 1;
        idleness.since = context.now();
        if idleness.foreground == 0 {
            self.await_idle(context, array);
        }
    }

    /// Whether the disks of `array` have been idle for the delay that the destage policy asks for, if any.
    #[inline]
    pub fn is_idle(&self, array: u16, now: SimTime) -> bool {
        self.idle_delay.is_some_and(|delay| self[array].idleness.has_lasted(now, delay))
    }

    /// Schedules the moment when `array` has been idle for the delay.
    pub fn await_idle(&mut self, context: &mut Context, array: u16) {
        let Some(delay) = self.idle_delay else { return };
        let idleness = &mut self[array].idleness;
        if !idleness.is_awaited {
            idleness.is_awaited = true;
            context.schedule(idleness.since + delay, Event::Idle(array));
        }
    }

    /// The disks of an array may have been idle for long enough; returns whether they have.
    pub fn end_wait_for_idle(&mut self, context: &mut Context, array: u16) -> bool {
        let Some(delay) = self.idle_delay else { return false };
        let idleness = &mut self[array].idleness;
        idleness.is_awaited = false;
        let is_idle = idleness.has_lasted(context.now(), delay);
        if !is_idle && idleness.foreground == 0 {
            self.await_idle(context, array);
        }
        is_idle
    }
}

/// Plans the disk I/Os of a step, each otherwise like `io`; returns the first.
#[inline]
fn plan_step(planned: &mut Slab<PlannedIo>, ios: &[DiskIo], io: Io) -> Link {
    // Linked from the back, so that they are issued in order.
    ios.iter().rev().fold(Link::END, |next, disk_io| {
        Link::to(planned.insert(PlannedIo { disk: disk_io.disk, io: disk_io.of(io), next }))
    })
}

/// A read of a disk for a request.
pub(super) const fn read_io(lba: Lba, sectors: Sectors, operation: u32) -> Io {
    Io { lba, sectors: sectors.0 as u32, is_write: false, is_background: false, is_forced: false, operation }
}
