//! Array operations: from a stripe's or an extent's disk I/Os to the moment when all of them are done.

use std::cmp::Ordering;

use super::Simulation;
use super::lock_range::LockRange;
use super::operation::{ArrayOperation, Kind, Parent, PlannedIo};
use super::redundancy::MemberState;
use super::stripe_write::{DiskIo, StripeWrite};
use crate::disk::{Agenda, BlockDevice as _, Io};
use crate::event::Event;
use crate::mutation::Mutation;
use crate::raid::{Piece, Update};
use crate::slab::Link;
use crate::units::{Lba, Sectors, SimDuration};
use crate::write_cache::Extent;

impl Simulation {
    /// Reads an extent of an array.
    pub(super) fn read_array(&mut self, array: u16, extent: Extent, parent: Parent) {
        let operation = self.operations.insert(ArrayOperation::new(array, Kind::Read, parent));
        let state = &self.arrays[array as usize];
        self.probe.watch(|oracle| oracle.begin_read(operation, array, &state.layout, extent));
        if !state.is_as_built {
            self.read_degraded(operation, array, extent);
            return;
        }
        let Some(first) = state.layout.pieces(extent.lba, extent.sectors).next() else { return };
        self.read_piece(operation, array, &first);
        // Few reads go beyond one strip.
        if first.sectors < extent.sectors {
            let layout = self.arrays[array as usize].layout;
            for piece in layout.pieces(extent.lba, extent.sectors).skip(1) {
                self.read_piece(operation, array, &piece);
            }
        }
    }

    /// Reads what lies in one strip, from the better of two mirrors.
    #[inline]
    fn read_piece(&mut self, operation: u32, array: u16, piece: &Piece) {
        let state = &self.arrays[array as usize];
        let (first_device, strip) = (state.first_device, &piece.strip);
        let device = first_device + strip.disk;
        let device = match state.layout.mirror(strip.disk) {
            Some(mirror) => self.better_mirror(device, first_device + mirror, strip.disk_lba),
            None => device,
        };
        self.operations[operation].pending += 1;
        let io = Io {
            lba: strip.disk_lba,
            sectors: piece.sectors.0 as u32,
            is_write: false,
            is_background: false,
            is_forced: false,
            operation,
        };
        self.submit(device, io);
    }

    /// Of two devices that mirror each other the one with the shorter queue; of equals the one whose arm is nearer.
    #[inline]
    pub(super) fn better_mirror(&self, one: u32, other: u32, lba: Lba) -> u32 {
        let [first, second] = [one, other].map(|device| &self.devices[device as usize]);
        let is_better = match second.usage().in_system().cmp(&first.usage().in_system()) {
            Ordering::Less => true,
            Ordering::Equal => {
                // The devices of an array are of one model.
                let cylinder = first.cylinder(lba);
                second.arm().abs_diff(cylinder) < first.arm().abs_diff(cylinder)
            }
            Ordering::Greater => false,
        };
        if is_better { other } else { one }
    }

    /// Writes `self.extents`, which lie within `stripe`, once no other write to the same sectors, or the same parity,
    /// is under way.
    pub(super) fn write_stripe(&mut self, array: u16, stripe: u64, parent: Parent) -> Option<Update> {
        let state = &self.arrays[array as usize];
        let update = self.stripe_write.plan(&state.layout, state.parity_update, stripe, &self.extents);
        let (is_as_built, is_volatile) = (state.is_as_built, state.is_volatile);
        let is_background = matches!(parent, Parent::Destage { .. });
        let range = LockRange::of(&state.layout, stripe, &self.extents);
        self.probe.mutate_stripe_write(&mut self.stripe_write);
        let operation = self
            .operations
            .insert(ArrayOperation { range: Some(range), ..ArrayOperation::new(array, Kind::Write, parent) });
        // What leaves the cache, or must be stable, has to be on the media; the rest may stay in a drive's own cache.
        let is_forced = match parent {
            Parent::WriteThrough { request } => {
                // Data that was safe in the write cache must not be replaced by data that is not.
                let cache = self.write_back.as_ref().map(|back| &back.cache);
                let takes_over = || cache.is_some_and(|cache| cache.has_claims(request, stripe));
                let must_last = is_volatile && !self.probe.has(Mutation::UnforcedSuccessor);
                self.requests[request].command.is_forced || (must_last && takes_over())
            }
            _ => !self.probe.has(Mutation::UnforcedDestage),
        };
        let parity_time = self
            .xor_bandwidth
            .map_or(SimDuration::ZERO, |rate| rate.time_for(self.stripe_write.parity_input().bytes()));
        let entry = &mut self.operations[operation];
        (entry.parity_time, entry.has_gaps) = (parity_time, self.stripe_write.has_gaps());
        let (layout, extents) = (&self.arrays[array as usize].layout, &self.extents);
        self.probe.watch(|oracle| oracle.plan_array_write(operation, array, layout, parent, extents));
        let may_start = self.lock(operation, &range);
        let step = |is_write: bool| Io {
            lba: Lba(0),
            sectors: 0,
            is_write,
            is_background,
            is_forced: is_write && is_forced,
            operation,
        };
        let has_reads = !self.stripe_write.reads.is_empty();
        // The first step of what may start goes to the disks as it is, unless the parity comes before it.
        let goes_at_once = may_start && is_as_built && (has_reads || parity_time == SimDuration::ZERO);
        // What has to be read of an array that is not as it was built is planned when it has the stripe.
        if is_as_built && !goes_at_once {
            self.operations[operation].first = self.plan_step(|write| &write.reads, step(false));
        }
        if has_reads || !goes_at_once {
            self.operations[operation].second = self.plan_step(|write| &write.writes, step(true));
        }
        if goes_at_once {
            self.probe.watch(|oracle| oracle.begin_write(operation));
        }
        if goes_at_once && has_reads {
            self.issue_at_once(|write| &write.reads, array, step(false));
        } else if goes_at_once {
            let writes = &self.stripe_write.writes;
            self.probe.watch(|oracle| {
                oracle.contents.compute(operation, writes.iter().map(|io| (io.disk, io.lba, io.sectors)));
            });
            self.issue_at_once(|write| &write.writes, array, step(true));
        } else if may_start {
            self.start(operation);
        }
        update
    }

    /// Issues the disk I/Os of a step of the stripe write at hand, each otherwise like `io`.
    #[inline]
    fn issue_at_once(&mut self, ios: impl Fn(&StripeWrite) -> &[DiskIo], array: u16, io: Io) {
        let first_device = self.arrays[array as usize].first_device;
        let count = ios(&self.stripe_write).len();
        self.operations[io.operation].pending = count as u32;
        for index in 0..count {
            let disk_io = ios(&self.stripe_write)[index];
            self.submit(first_device + disk_io.disk, disk_io.of(io));
        }
    }

    /// Plans the disk I/Os of a step of the stripe write at hand, each otherwise like `io`; gives the first.
    #[inline]
    fn plan_step(&mut self, ios: impl Fn(&StripeWrite) -> &[DiskIo], io: Io) -> Link {
        // Linked from the back, so that they are issued in order.
        ios(&self.stripe_write).iter().rev().fold(Link::END, |next, disk_io| {
            Link::to(self.planned.insert(PlannedIo { disk: disk_io.disk, io: disk_io.of(io), next }))
        })
    }

    /// Flushes the write caches of an array's devices on behalf of a request; gives false where they have none.
    pub(super) fn flush_devices(&mut self, array: u16, request: u32) -> bool {
        let state = &self.arrays[array as usize];
        if !state.is_volatile || self.probe.has(Mutation::UnflushedDrives) {
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
        self.probe.watch(|oracle| oracle.contents.volatile.begin_flush(operation));
        let io =
            Io { lba: Lba(0), sectors: 0, is_write: true, is_background: false, is_forced: true, operation };
        for device in devices {
            self.submit(device, io);
        }
        true
    }

    /// Starts an operation that has its range to itself.
    pub(super) fn start(&mut self, operation: u32) {
        let entry = &self.operations[operation];
        if entry.kind == Kind::Write {
            self.probe.watch(|oracle| oracle.begin_write(operation));
        }
        let keeps_plan = self.probe.has(Mutation::OutdatedPlan) && entry.first != Link::END;
        if !self.arrays[entry.array as usize].is_as_built && !keeps_plan {
            self.plan_reads(operation);
        }
        self.go_on(operation);
    }

    /// Issues the next step of an operation, or ends it.
    #[inline]
    pub(super) fn go_on(&mut self, operation: u32) {
        let entry = &self.operations[operation];
        if entry.is_overtaken {
            self.operations[operation].is_overtaken = false;
            self.plan_reads(operation);
        } else if entry.first == Link::END && entry.second == Link::END {
            self.operation_done(operation);
            return;
        }
        if !self.issue_step(operation) {
            self.operation_done(operation);
        }
    }

    /// Issues the I/Os of the next step of an operation, once the XOR engine has its parity; gives whether there are any.
    fn issue_step(&mut self, operation: u32) -> bool {
        let entry = &mut self.operations[operation];
        let mut link = std::mem::replace(&mut entry.first, Link::END);
        if link == Link::END {
            let parity = std::mem::replace(&mut entry.parity_time, SimDuration::ZERO);
            if parity > SimDuration::ZERO {
                let done = self.xor.claim(self.now, parity);
                self.events.schedule(done, Event::Parity(operation));
                return true;
            }
            link = std::mem::replace(&mut entry.second, Link::END);
            self.watch_second_step(operation, link);
        }
        let entry = &self.operations[operation];
        let state = &self.arrays[entry.array as usize];
        if !state.is_as_built {
            return self.issue_degraded(operation, link);
        }
        let first_device = state.first_device;
        let any = link != Link::END;
        while let Some(index) = link.get() {
            let planned = self.planned.remove(index);
            link = planned.next;
            self.operations[operation].pending += 1;
            self.submit(first_device + planned.disk, planned.io);
        }
        any
    }

    /// Reports to the oracle the writes that an operation issues from `link` on.
    #[inline]
    fn watch_second_step(&mut self, operation: u32, link: Link) {
        let Self { probe, operations, arrays, planned, .. } = self;
        probe.watch(|oracle| {
            let entry = &operations[operation];
            let state = &arrays[entry.array as usize];
            let ios = std::iter::successors(link.get(), |&index| planned[index].next.get());
            let writes = ios
                .map(|index| &planned[index])
                .filter(|write| state.is_as_built || state.target(entry, write).is_some())
                .map(|write| (write.disk, write.io.lba, Sectors(u64::from(write.io.sectors))));
            if matches!(entry.kind, Kind::Write | Kind::Rebuild) && link != Link::END {
                oracle.contents.compute(operation, writes);
            }
        });
    }

    /// Issues the I/Os from `link` on to the disks that are there; gives whether there are any.
    fn issue_degraded(&mut self, operation: u32, mut link: Link) -> bool {
        while let Some(index) = link.get() {
            let planned = self.planned.remove(index);
            link = planned.next;
            let entry = self.operations[operation];
            // What a locked read wants is decoded from what it has read.
            let is_wanted =
                entry.kind == Kind::LockedRead && entry.first == Link::END && entry.second == Link::END;
            let state = &self.arrays[entry.array as usize];
            let is_omitted = planned.io.is_write && self.probe.omits(state, &planned);
            if !is_wanted
                && !is_omitted
                && let Some(device) = state.target(&entry, &planned)
            {
                self.operations[operation].pending += 1;
                self.submit(device, planned.io);
            }
        }
        self.operations[operation].pending > 0
    }

    /// The XOR engine has the parity of an operation: it goes on.
    pub(super) fn on_parity(&mut self, operation: u32) {
        self.go_on(operation);
    }

    /// A device acts on one of its slots.
    pub(super) fn on_device(&mut self, device: u32, slot: u32) {
        let yields = self.write_back.as_ref().is_none_or(|back| back.yields);
        let mut agenda = Agenda::new(&mut self.events, device);
        if let Some(io) = self.devices[device as usize].act(self.now, slot, yields, &mut agenda) {
            let disk = self.device_disk[device as usize];
            let is_volatile = || self.devices[device as usize].is_volatile();
            self.probe.watch(|oracle| oracle.end_io((device, disk), &io, is_volatile()));
            self.leave_device(device, io);
        }
    }

    /// An I/O of an array operation is done.
    #[inline]
    pub(super) fn io_done(&mut self, io: Io) {
        if self.watches_idleness && !io.is_background {
            self.foreground_done(io.operation);
        }
        let entry = &mut self.operations[io.operation];
        entry.pending -= 1;
        if entry.pending == 0 {
            self.go_on(io.operation);
        }
    }

    fn operation_done(&mut self, operation: u32) {
        let done = self.operations.remove(operation);
        let (members, requests) = (&self.arrays[done.array as usize].redundancy.members, &self.requests);
        self.probe.watch(|oracle| oracle.end_operation(operation, &done, members, requests));
        if let Some(range) = done.range {
            if let Parent::Rebuild { device } = done.parent {
                let row = self.arrays[done.array as usize].layout.row_of(range.stripe);
                self.row_rebuilt(done.array, device, row);
            }
            self.unlock(operation, &done, &range);
        }
        match done.parent {
            Parent::Read { request } => self.part_done(request),
            Parent::Flush { request } => self.devices_flushed(request),
            Parent::Fetch { fetch } => self.fetch_done(fetch),
            Parent::WriteThrough { request } => {
                let command = self.requests[request].command;
                // A fetch that began before the data were on the disks may bring the old ones.
                self.invalidate(done.array, command.lba.0, command.sectors.0);
                self.supersede(request, &done);
                self.part_done(request);
                // A destage may have passed over the stripe that this write held.
                self.destage_if_due();
            }
            Parent::Destage { lines } => self.destage_done(done.array, lines),
            Parent::Part { operation } => {
                self.operations[operation].pending -= 1;
                if self.operations[operation].pending == 0 {
                    self.go_on(operation);
                }
                self.destage_if_due();
            }
            Parent::Rebuild { device } => {
                self.destage_if_due();
                self.rebuild_on(device);
            }
        }
        if done.range.is_some() {
            self.retry_held();
        }
    }
}
