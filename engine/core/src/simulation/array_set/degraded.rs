//! Array operations on an array that is not as it was built: a disk is missing, being rebuilt, or has been replaced.
//!
//! A read of a mirrored strip goes to the mirror that is there. A read of a strip that must be decoded has its stripe to
//! itself, among writes and rebuilds, until it is done; other such reads may share it. What a write or such a read has
//! to read is planned when it has its stripe, by the disks that are there then. A disk that fails afterwards takes its
//! I/Os with it: a read step that has lost one is planned again and repeated; a lost write is compensated by
//! the parity or the mirror that is written beside it.

use super::io::read_io;
use super::lock_range::LockRange;
use super::operation::{ArrayOperation, Kind, Parent, PlannedIo};
use super::{ArraySet, Context, Place};
use crate::disk::Io;
use crate::mutation::Mutation;
use crate::raid::{Piece, StripPart, StripWrite};
use crate::slab::Link;
use crate::units::{Lba, Sectors};
use crate::write_cache::Extent;

impl ArraySet {
    /// Reads an extent of an array for `operation`, from the disks that are there.
    pub(super) fn read_degraded(&mut self, context: &mut Context, operation: u32, extent: Extent) {
        let array = self.operations[operation].array;
        let layout = self[array].layout;
        let mut pieces = layout.pieces(extent.lba, extent.sectors).peekable();
        // Held until everything has been requested.
        self.operations[operation].pending += 1;
        if layout.level().parities() == 0 {
            for piece in pieces {
                let io = read_io(piece.strip.disk_lba, piece.sectors, operation);
                self.operations[operation].pending += 1;
                self.read_a_mirror(context, array, piece.strip.disk, io);
            }
        } else {
            let mut of_stripe: Vec<Piece> = Vec::new();
            while let Some(piece) = pieces.next() {
                of_stripe.push(piece);
                if pieces.peek().is_none_or(|next| next.strip.stripe != piece.strip.stripe) {
                    self.read_of_stripe(context, operation, piece.strip.stripe, &of_stripe);
                    of_stripe.clear();
                }
            }
        }
        self.operations[operation].pending -= 1;
    }

    /// Reads pieces of one stripe: each from its disk, or all with the stripe locked if one has to be decoded.
    fn read_of_stripe(&mut self, context: &mut Context, operation: u32, stripe: u64, pieces: &[Piece]) {
        let array = self.operations[operation].array;
        let state = &self[array];
        let row = state.layout.row_of(stripe);
        let base = state.layout.disk_lba(stripe).0;
        if pieces.iter().all(|piece| state.redundancy.serving(piece.strip.disk, row).is_some()) {
            for piece in pieces {
                let io = read_io(piece.strip.disk_lba, piece.sectors, operation);
                if let Some(device) = self[array].redundancy.serving(piece.strip.disk, row) {
                    self.operations[operation].pending += 1;
                    self.submit(context, device, io);
                }
            }
            return;
        }
        let parts: Vec<StripPart> = pieces
            .iter()
            .map(|piece| {
                let start = piece.strip.disk_lba.0 - base;
                StripPart {
                    disk: piece.strip.disk,
                    start: Sectors(start),
                    end: Sectors(start + piece.sectors.0),
                }
            })
            .collect();
        self.operations[operation].pending += 1;
        self.read_locked(context, (array, stripe), &parts, Parent::Part { operation });
    }

    /// Reads parts of a stripe that are on their disks or can be decoded, with the stripe locked.
    fn read_locked(
        &mut self,
        context: &mut Context,
        (array, stripe): (u16, u64),
        parts: &[StripPart],
        parent: Parent,
    ) {
        let range = LockRange::shared(stripe);
        let base = self[array].layout.disk_lba(stripe).0;
        let operation = self.operations.insert(ArrayOperation {
            range: Some(range),
            ..ArrayOperation::new(array, Kind::LockedRead, parent)
        });
        let wanted = parts.iter().rev().fold(Link::END, |next, part| {
            let io = read_io(Lba(base + part.start.0), Sectors(part.end.0 - part.start.0), operation);
            Link::to(self.planned.insert(PlannedIo { disk: part.disk, io, next }))
        });
        self.operations[operation].second = wanted;
        let layout = &self[array].layout;
        context.probe.watch(|oracle| oracle.begin_locked_read(operation, array, layout, stripe, parts));
        let is_unlocked = context.probe.has(Mutation::UnlockedReconstruction);
        if is_unlocked {
            self.operations[operation].range = None;
        }
        if is_unlocked || self.lock(context, operation, range) {
            self.start(context, operation);
        }
    }

    /// Sends a read to the better of the mirrors that have all of it.
    fn read_a_mirror(&mut self, context: &mut Context, array: u16, disk: u32, io: Io) {
        let state = &self[array];
        let unit = state.layout.stripe_unit().0;
        let rows = (io.lba.0 / unit, (io.lba.0 + u64::from(io.sectors) - 1) / unit);
        let serving = |disk: u32| {
            let device = state.redundancy.serving(disk, rows.0)?;
            (rows.0..=rows.1).all(|row| state.redundancy.serving(disk, row).is_some()).then_some(device)
        };
        let mirror = state.layout.mirror(disk).and_then(serving);
        let device = match (serving(disk), mirror) {
            (Some(one), Some(other)) => self.better_mirror(one, other, &io),
            (Some(only), None) | (None, Some(only)) => only,
            (None, None) => unreachable!("an array that has lost data has ended the run"),
        };
        self.submit(context, device, io);
    }

    /// Plans what an operation that has its stripe has to read, by the disks that are there now.
    pub(super) fn plan_reads(&mut self, context: &mut Context, operation: u32) {
        let entry = self.operations[operation];
        let mut link = std::mem::replace(&mut self.operations[operation].first, Link::END);
        while let Some(index) = link.get() {
            link = self.planned.remove(index).next;
        }
        let Some(stripe) = entry.stripe(&self.planned, &self[entry.array].layout) else {
            return;
        };
        let state = &self.arrays[entry.array as usize];
        let (layout, row) = (state.layout, state.layout.row_of(stripe));
        let is_there = |disk: u32| state.redundancy.serving(disk, row).is_some();
        let base = layout.disk_lba(stripe).0;
        let mut parts = Vec::new();
        let mut link = entry.second;
        while let Some(index) = link.get() {
            let planned = &self.planned[index];
            link = planned.next;
            let start = planned.io.lba.0 - base;
            let end = Sectors(start + u64::from(planned.io.sectors));
            parts.push(StripPart { disk: planned.disk, start: Sectors(start), end });
        }
        let plan = &mut self.degraded_reads;
        let is_background = matches!(entry.parent, Parent::Destage { .. } | Parent::Rebuild { .. })
            && (entry.kind != Kind::Rebuild || state.rebuild.yield_to_requests);
        if layout.level().parities() == 0 {
            plan.reads.clear();
            plan.parity_input = Sectors(0);
            if entry.kind == Kind::Rebuild {
                // Its own disk is not there yet, so the other one of the pair is read.
                let other =
                    |part: &StripPart| layout.mirror(part.disk).map(|disk| StripPart { disk, ..*part });
                plan.reads.extend(parts.iter().filter_map(other));
            }
        } else if entry.kind == Kind::Write {
            let writes: Vec<_> = parts
                .iter()
                .filter_map(|part| {
                    let index = layout.index_on(stripe, part.disk)?;
                    Some(StripWrite { index, start: part.start, end: part.end, is_solid: !entry.has_gaps })
                })
                .collect();
            plan.of_write(&layout, stripe, state.parity_update, &writes, is_there);
        } else {
            plan.of_parts(&layout, stripe, &parts, is_there);
        }
        let first = plan.reads.iter().rev().fold(Link::END, |next, read| {
            let sectors = Sectors(read.end.0 - read.start.0);
            let io = Io { is_background, ..read_io(Lba(base + read.start.0), sectors, operation) };
            Link::to(self.planned.insert(PlannedIo { disk: read.disk, io, next }))
        });
        let parity_input = self.degraded_reads.parity_input;
        let is_decoded = parity_input > Sectors(0);
        context.measures.counts.decoded_reads += u64::from(entry.kind == Kind::LockedRead && is_decoded);
        let parity_input = self.timed_parity(context, parity_input);
        let entry = &mut self.operations[operation];
        (entry.first, entry.parity_input) = (first, parity_input);
        context.probe.watch(|oracle| oracle.contents.read_anew(operation));
    }

    /// A disk has failed with `io` on it; returns whether that was the last I/O of its operation's step.
    pub fn lose_io(&mut self, context: &mut Context, device: u32, io: Io) -> bool {
        let Place { array, disk } = self.places[device as usize];
        let layout = self[array].layout;
        let operation = io.operation;
        if self.idle_delay.is_some() && !io.is_background {
            self.end_foreground(context, operation);
        }
        match self.operations[operation].kind {
            Kind::Read if layout.level().parities() == 0 => {
                self.read_a_mirror(context, array, disk, io);
                false
            }
            Kind::Read => {
                let (row, offset) = (io.lba.0 / layout.stripe_unit().0, io.lba.0 % layout.stripe_unit().0);
                let part =
                    StripPart { disk, start: Sectors(offset), end: Sectors(offset + u64::from(io.sectors)) };
                let stripe = layout.stripe_on(disk, row);
                self.read_locked(context, (array, stripe), &[part], Parent::Part { operation });
                false
            }
            Kind::LockedRead | Kind::Write | Kind::Rebuild | Kind::Flush => {
                self.operations[operation].is_overtaken |=
                    !io.is_write && !context.probe.has(Mutation::IgnoredFailure);
                self.end_part(operation)
            }
        }
    }
}
