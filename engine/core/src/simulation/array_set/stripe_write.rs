//! The disk I/Os of a write to one stripe.

use crate::disk::Io;
use crate::raid::{Layout, ParityUpdate, StripWrite, Touched, Update, choose};
use crate::units::{Lba, Sectors};
use crate::write_cache::Extent;

/// One I/O of a disk of the array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DiskIo {
    /// The disk within the array.
    pub disk: u32,
    /// First sector on the disk.
    pub lba: Lba,
    /// Number of sectors.
    pub sectors: Sectors,
}

impl DiskIo {
    /// This part of a device, otherwise like `io`.
    #[inline]
    pub const fn of(self, io: Io) -> Io {
        Io { lba: self.lba, sectors: self.sectors.0 as u32, ..io }
    }
}

/// The disk I/Os of a write: first the reads, then the writes when all reads are done.
#[derive(Debug, Default)]
pub struct StripeWrite {
    /// Reads of old data or parity.
    pub reads: Vec<DiskIo>,
    /// Writes of data and parity, or of both mirrors.
    pub writes: Vec<DiskIo>,
    strips: Vec<StripWrite>,
    parity_input: u64,
    has_gaps: bool,
}

impl StripeWrite {
    /// Input of the XOR engine for the write planned last, for each parity: old data, new data and old
    /// parity in a read-modify-write, all data of the parity range otherwise.
    pub const fn parity_input(&self) -> Sectors {
        Sectors(self.parity_input)
    }

    /// The writes of the write planned last, or its reads.
    #[inline]
    pub fn step(&self, is_write: bool) -> &[DiskIo] {
        if is_write { &self.writes } else { &self.reads }
    }

    /// Whether the new data of the write planned last has gaps in some strip.
    pub const fn has_gaps(&self) -> bool {
        self.has_gaps
    }

    /// Plans the write of `extents`, in order of address, all within `stripe`; returns how parity is updated, if
    /// the level has parity.
    pub fn plan(
        &mut self,
        layout: &Layout,
        policy: ParityUpdate,
        stripe: u64,
        extents: &[Extent],
    ) -> Option<Update> {
        self.reads.clear();
        self.writes.clear();
        self.parity_input = 0;
        self.has_gaps = false;
        if layout.level().parities() == 0 {
            for extent in extents {
                for piece in layout.pieces(extent.lba, extent.sectors) {
                    let io =
                        DiskIo { disk: piece.strip.disk, lba: piece.strip.disk_lba, sectors: piece.sectors };
                    self.writes.push(io);
                    if let Some(mirror) = layout.mirror(io.disk) {
                        self.writes.push(DiskIo { disk: mirror, ..io });
                    }
                }
            }
            return None;
        }
        if self.plan_small(layout, policy, stripe, extents) {
            return Some(Update::ReadModifyWrite);
        }
        self.strips.clear();
        for extent in extents {
            for piece in layout.pieces(extent.lba, extent.sectors) {
                let (start, end) = (piece.strip.offset, Sectors(piece.strip.offset.0 + piece.sectors.0));
                match self.strips.last_mut() {
                    Some(last) if last.index == piece.strip.index => {
                        last.is_solid &= last.end == start;
                        last.end = end;
                    }
                    _ => {
                        self.strips.push(StripWrite { index: piece.strip.index, start, end, is_solid: true });
                    }
                }
            }
        }
        self.has_gaps = self.strips.iter().any(|strip| !strip.is_solid);
        let touched = Touched::by(&self.strips);
        let update = choose(policy, layout, touched);
        let range = touched.end.0 - touched.start.0;
        self.parity_input = u64::from(layout.level().parities())
            * match update {
                Update::ReadModifyWrite => {
                    2 * self.strips.iter().map(|strip| strip.end.0 - strip.start.0).sum::<u64>() + range
                }
                Update::ReconstructWrite | Update::FullStripe => u64::from(layout.data_disks()) * range,
            };
        let base = layout.disk_lba(stripe).0;
        let io = |disk: u32, start: Sectors, end: Sectors| DiskIo {
            disk,
            lba: Lba(base + start.0),
            sectors: Sectors(end.0 - start.0),
        };
        let parities = layout.parity_disks(stripe).into_iter().flatten();
        for strip in &self.strips {
            let data = io(layout.data_disk(stripe, strip.index), strip.start, strip.end);
            self.writes.push(data);
            if update == Update::ReadModifyWrite {
                self.reads.push(data);
            }
        }
        for disk in parities {
            let parity = io(disk, touched.start, touched.end);
            self.writes.push(parity);
            if update == Update::ReadModifyWrite {
                self.reads.push(parity);
            }
        }
        if update == Update::ReconstructWrite {
            let mut pending = self.strips.iter().peekable();
            for index in 0..layout.data_disks() {
                let written = pending.next_if(|strip| strip.index == index);
                let is_known = written.is_some_and(|strip| {
                    strip.is_solid && strip.start == touched.start && strip.end == touched.end
                });
                if !is_known {
                    let disk = layout.data_disk(stripe, index);
                    self.reads.push(io(disk, touched.start, touched.end));
                }
            }
        }
        Some(update)
    }

    /// Plans the most frequent write to a level with parity: one run within one strip that is read, modified and written. The
    /// parities change at the same offsets, so that all I/Os have one address on their disks. Returns whether it is one.
    #[inline]
    fn plan_small(&mut self, layout: &Layout, policy: ParityUpdate, stripe: u64, extents: &[Extent]) -> bool {
        let [extent] = extents else { return false };
        let piece = layout.first_piece(extent.lba, extent.sectors);
        let (start, end) = (piece.strip.offset, Sectors(piece.strip.offset.0 + extent.sectors.0));
        let touched = Touched { strips: 1, covering: 1, start, end };
        if piece.sectors < extent.sectors || choose(policy, layout, touched) != Update::ReadModifyWrite {
            return false;
        }
        let data = DiskIo { disk: piece.strip.disk, lba: piece.strip.disk_lba, sectors: extent.sectors };
        self.writes.push(data);
        for disk in layout.parity_disks(stripe).into_iter().flatten() {
            self.writes.push(DiskIo { disk, ..data });
        }
        self.reads.extend_from_slice(&self.writes);
        self.parity_input = u64::from(layout.level().parities()) * 3 * extent.sectors.0;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::raid::Level;

    /// Sixteen sectors to a strip; extents by (lba, sectors); returns reads, writes and the way chosen.
    fn plan(
        level: Level,
        disks: u32,
        policy: ParityUpdate,
        extents: &[(u64, u64)],
    ) -> (usize, usize, Option<Update>) {
        let layout = Layout::new(level, disks, Sectors(16), Sectors(1600)).unwrap();
        let extents: Vec<_> =
            extents.iter().map(|&(lba, n)| Extent { lba: Lba(lba), sectors: Sectors(n) }).collect();
        let mut write = StripeWrite::default();
        let update = write.plan(&layout, policy, 0, &extents);
        (write.reads.len(), write.writes.len(), update)
    }

    #[test]
    fn small_writes_cost_the_textbook_penalties() {
        let one = [(0, 8)];
        let ios = |level, disks| {
            let (reads, writes, _) = plan(level, disks, ParityUpdate::FewestIos, &one);
            reads + writes
        };
        assert_eq!(ios(Level::Raid0, 4), 1);
        assert_eq!(ios(Level::Raid10, 4), 2);
        assert_eq!(ios(Level::Raid5, 4), 4);
        assert_eq!(ios(Level::Raid6, 6), 6);
        assert_eq!(ios(Level::Raid5, 3), 3, "on three disks a reconstruct-write is cheaper");
    }

    #[test]
    fn a_small_write_has_one_address_on_all_its_disks() {
        // Stripe 1 of five disks, sixteen sectors to a strip: P on disk 3, Q on disk 4, data from disk 0 on.
        let layout = Layout::new(Level::Raid6, 5, Sectors(16), Sectors(1600)).unwrap();
        let mut write = StripeWrite::default();
        let extents = [Extent { lba: Lba(48 + 16 + 3), sectors: Sectors(5) }];
        let update = write.plan(&layout, ParityUpdate::Rmw, 1, &extents);
        let ios: Vec<_> = write.reads.iter().map(|io| (io.disk, io.lba.0, io.sectors.0)).collect();
        assert_eq!(ios, [(1, 16 + 3, 5), (3, 16 + 3, 5), (4, 16 + 3, 5)]);
        assert_eq!((update, &write.writes), (Some(Update::ReadModifyWrite), &write.reads));
        assert_eq!((write.parity_input().0, write.has_gaps()), (2 * 3 * 5, false));
    }

    #[test]
    fn nine_disks_in_raid_5_cost_4_6_8_then_9() {
        let costs: Vec<_> = (1..=8)
            .map(|strips| {
                let (reads, writes, _) = plan(Level::Raid5, 9, ParityUpdate::FewestIos, &[(0, 16 * strips)]);
                reads + writes
            })
            .collect();
        assert_eq!(costs, [4, 6, 8, 9, 9, 9, 9, 9]);
    }

    #[test]
    fn a_whole_stripe_needs_no_reads_under_either_policy() {
        for policy in [ParityUpdate::FewestIos, ParityUpdate::Rmw] {
            assert_eq!(plan(Level::Raid6, 6, policy, &[(0, 64)]), (0, 6, Some(Update::FullStripe)));
        }
        assert_eq!(
            plan(Level::Raid5, 5, ParityUpdate::Rmw, &[(0, 48)]),
            (4, 4, Some(Update::ReadModifyWrite))
        );
    }

    #[test]
    fn xor_input_is_old_and_new_data_and_parity_or_all_data() {
        let layout = |level, disks| Layout::new(level, disks, Sectors(16), Sectors(1600)).unwrap();
        let input = |layout: &Layout, extents: &[(u64, u64)]| {
            let extents: Vec<_> =
                extents.iter().map(|&(lba, n)| Extent { lba: Lba(lba), sectors: Sectors(n) }).collect();
            let mut write = StripeWrite::default();
            write.plan(layout, ParityUpdate::FewestIos, 0, &extents);
            write.parity_input().0
        };
        let (raid_5, raid_6) = (layout(Level::Raid5, 5), layout(Level::Raid6, 6));
        assert_eq!(input(&raid_5, &[(0, 8)]), 8 + 8 + 8);
        assert_eq!(input(&raid_6, &[(0, 8)]), 2 * (8 + 8 + 8));
        assert_eq!(input(&raid_5, &[(0, 64)]), 64, "a full stripe");
        assert_eq!(input(&raid_5, &[(0, 32)]), 64, "a reconstruct-write of two of four strips");
        assert_eq!(input(&layout(Level::Raid10, 4), &[(0, 8)]), 0);
    }

    #[test]
    fn holes_within_a_strip_are_read() {
        // Two pieces of one strip: it is read and written as one.
        let (reads, writes, update) = plan(Level::Raid5, 5, ParityUpdate::FewestIos, &[(0, 2), (6, 2)]);
        assert_eq!((reads, writes, update), (2, 2, Some(Update::ReadModifyWrite)));
        // Three of four strips written, one of them with a hole: it and the fourth are read.
        let (reads, writes, update) =
            plan(Level::Raid5, 5, ParityUpdate::FewestIos, &[(0, 16), (16, 4), (28, 4), (32, 16)]);
        assert_eq!((reads, writes, update), (2, 4, Some(Update::ReconstructWrite)));
    }
}
