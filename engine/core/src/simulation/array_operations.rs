//! Array operations: from a stripe's or an extent's disk I/Os to the moment when all of them are done.

use std::cmp::Ordering;

use super::Simulation;
use super::array_state::{ArrayOperation, Kind, Parent, PlannedIo};
use super::redundancy::MemberState;
use super::stripe_lock::WriteRange;
use super::stripe_write::DiskIo;
use crate::disk::{Agenda, BlockDevice as _, Io};
use crate::event::Event;
use crate::raid::Update;
use crate::slab::Link;
use crate::units::{Lba, SimDuration};
use crate::write_cache::Extent;

impl Simulation {
    /// Reads an extent of an array.
    pub(super) fn read_array(&mut self, array: u16, extent: Extent, parent: Parent) {
        let operation = self.operations.insert(ArrayOperation::new(array, Kind::Read, parent));
        #[cfg(debug_assertions)]
        self.watch_read(operation, array, extent);
        let state = &self.arrays[array as usize];
        let (layout, first_device) = (state.layout, state.first_device);
        if !state.is_as_built {
            self.read_degraded(operation, array, extent);
            return;
        }
        for piece in layout.pieces(extent.lba, extent.sectors) {
            let strip = piece.strip;
            let device = first_device + strip.disk;
            let device = match layout.mirror(strip.disk) {
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
    }

    /// Of two devices that mirror each other the one with the shorter queue; of equals the one whose arm is nearer.
    pub(super) fn better_mirror(&self, one: u32, other: u32, lba: Lba) -> u32 {
        let [first, second] = [one, other].map(|device| &self.devices[device as usize]);
        let is_better = match second.usage().in_system().cmp(&first.usage().in_system()) {
            Ordering::Less => true,
            Ordering::Equal => second.distance(lba) < first.distance(lba),
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
        let range = WriteRange::of(&state.layout, stripe, &self.extents);
        #[cfg(any(test, feature = "mutations"))]
        self.mutate_stripe_write();
        let operation = self
            .operations
            .insert(ArrayOperation { range: Some(range), ..ArrayOperation::new(array, Kind::Write, parent) });
        // What leaves the cache, or must be stable, has to be on the media; the rest may stay in a drive's own cache.
        let is_forced = match parent {
            Parent::WriteThrough { request } => {
                // Nor may what was safe in the write cache give way to what is not.
                let cache = self.write_back.as_ref().map(|back| &back.cache);
                let takes_over = || cache.is_some_and(|cache| cache.has_claims(request, stripe));
                self.requests[request].command.is_forced || (is_volatile && takes_over())
            }
            _ => true,
        };
        #[cfg(all(test, debug_assertions))]
        let is_forced = match self.fault {
            Some(super::oracle::Fault::UnforcedDestage) => !is_background && is_forced,
            Some(super::oracle::Fault::UnforcedSuccessor) => match parent {
                Parent::WriteThrough { request } => self.requests[request].command.is_forced,
                _ => true,
            },
            _ => is_forced,
        };
        let planned = &mut self.planned;
        let mut chain = |ios: &[DiskIo], is_write: bool| {
            // Linked from the back, so that they are issued in order.
            ios.iter().rev().fold(Link::END, |next, io| {
                Link::to(planned.insert(PlannedIo {
                    disk: io.disk,
                    io: Io {
                        lba: io.lba,
                        sectors: io.sectors.0 as u32,
                        is_write,
                        is_background,
                        is_forced: is_write && is_forced,
                        operation,
                    },
                    next,
                }))
            })
        };
        let parity_time = self
            .xor_bandwidth
            .map_or(SimDuration::ZERO, |rate| rate.time_for(self.stripe_write.parity_input().bytes()));
        // Otherwise what has to be read is planned when it has the stripe.
        let first = if is_as_built { chain(&self.stripe_write.reads, false) } else { Link::END };
        let second = chain(&self.stripe_write.writes, true);
        let entry = &mut self.operations[operation];
        (entry.first, entry.second, entry.parity_time) = (first, second, parity_time);
        entry.has_gaps = self.stripe_write.has_gaps();
        #[cfg(debug_assertions)]
        self.watch_write(operation, array, parent);
        if self.lock(operation, &range) {
            self.start(operation);
        }
        update
    }

    /// Flushes the write caches of an array's devices on behalf of a request; gives false where they have none.
    pub(super) fn flush_devices(&mut self, array: u16, request: u32) -> bool {
        let state = &self.arrays[array as usize];
        if !state.is_volatile {
            return false;
        }
        #[cfg(all(test, debug_assertions))]
        if self.fault == Some(super::oracle::Fault::UnflushedDrives) {
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
        #[cfg(debug_assertions)]
        self.oracle.contents.volatile.begin_flush(operation);
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
        #[cfg(debug_assertions)]
        if entry.kind == Kind::Write {
            self.oracle.begin_write(operation);
        }
        if !self.arrays[entry.array as usize].is_as_built {
            #[cfg(all(test, debug_assertions))]
            if self.fault == Some(super::oracle::Fault::OutdatedPlan) && entry.first != Link::END {
                self.go_on(operation);
                return;
            }
            self.plan_reads(operation);
        }
        self.go_on(operation);
    }

    /// Issues the next step of an operation, or ends it.
    #[inline]
    pub(super) fn go_on(&mut self, operation: u32) {
        if self.operations[operation].is_overtaken {
            self.operations[operation].is_overtaken = false;
            self.plan_reads(operation);
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
            #[cfg(debug_assertions)]
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

    /// Issues the I/Os from `link` on to the disks that are there; gives whether there are any.
    fn issue_degraded(&mut self, operation: u32, mut link: Link) -> bool {
        while let Some(index) = link.get() {
            let planned = self.planned.remove(index);
            link = planned.next;
            let entry = self.operations[operation];
            // What a locked read wants is decoded from what it has read.
            let is_wanted =
                entry.kind == Kind::LockedRead && entry.first == Link::END && entry.second == Link::END;
            if let (false, Some(device)) = (is_wanted, self.direct(&entry, &planned)) {
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
            #[cfg(debug_assertions)]
            self.watch_io(device, &io);
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
        #[cfg(debug_assertions)]
        self.watch_end(operation, &done);
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
