//! Which of two mirrors reads.
//!
//! ```text
//!   a read that continues one of this mirror ──► this mirror, but if much waits there every `TURN` the other one
//!   any other                                ──► the shorter queue ──► the nearer arm
//! ```
//!
//! Two disks that divide a sequence read by read pass over each other's sectors, so that both together are hardly faster than
//! one. So a sequence stays on its disk. Only if what waits there keeps it busy for longer than the other takes to seek and
//! to turn, the other reads on, and then for so long that the seeks hardly count: a short queue is served by one disk, a long
//! one by both.
//!
//! Linux md (`raid1.c`, `read_balance`) never leaves the disk of a sequence; ZFS (`vdev_mirror_shift`) alternates every 2 MiB.
//! On Smart Arrays the disk that is not busy answers, and with queues of up to 256 sequential reads of RAID 1+0 are "a little
//! slower" than of RAID 0, as it is "difficult to get sequential performance from all the drives" (HP: Smart Array controllers
//! and basic RAID performance factors, 2012). `TURN` and `LEAD` are assumed.

use std::cmp::Ordering;

use super::ArraySet;
use crate::disk::{BlockDevice as _, Device, Io};
use crate::units::{Lba, SECTOR_BYTES};

/// Addresses at the multiples of which a sequence may change the disk \[sectors\]: many tracks.
const TURN: u64 = (8 << 20) / SECTOR_BYTES;
/// What has to wait at a disk for that \[sectors\]: a revolution and a short seek take less time at the rates of disks.
const LEAD: u64 = (2 << 20) / SECTOR_BYTES;

/// What a device has to do, for the choice among mirrors.
#[derive(Clone, Copy, Debug, Default)]
pub struct Load {
    /// Where the last mirrored read begins and ends that was sent to it.
    read: (Lba, Lba),
    /// What waits there or is in service \[sectors\].
    pub sectors: u64,
}

impl ArraySet {
    /// Of two mirrored devices, the one that reads `io`.
    #[inline]
    pub(super) fn better_mirror(&mut self, one: u32, other: u32, io: &Io) -> u32 {
        let [first, second] = [one, other].map(|device| &self.devices[device as usize]);
        let [is_first, is_second] = [one, other].map(|device| self.loads[device as usize].read.1 == io.lba);
        // Only an arm has to pass over what it does not read.
        let is_second_better = if is_first != is_second && matches!(first, Device::Drive(_)) {
            let here = &self.loads[if is_first { one } else { other } as usize];
            let begins_turn = here.read.0.0 / TURN < io.lba.0 / TURN;
            let changes = begins_turn && here.sectors >= LEAD;
            is_second != changes
        } else {
            match second.usage().in_system().cmp(&first.usage().in_system()) {
                Ordering::Less => true,
                Ordering::Equal => {
                    // The devices of an array are of one model.
                    let cylinder = first.cylinder(io.lba);
                    second.arm().abs_diff(cylinder) < first.arm().abs_diff(cylinder)
                }
                Ordering::Greater => false,
            }
        };
        let better = if is_second_better { other } else { one };
        self.loads[better as usize].read = (io.lba, Lba(io.lba.0 + u64::from(io.sectors)));
        better
    }
}
