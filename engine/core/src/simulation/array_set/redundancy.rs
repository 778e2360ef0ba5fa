//! The redundancy of an array: which device holds each of its places, and what of it may be used.
//!
//! ```text
//!   optimal ──► degraded ──► optimal        a disk fails; its rebuild onto a spare or a new disk is over
//!                  └───────► failed         more disks are missing than the level tolerates
//! ```

use crate::raid::{Layout, Level};
use crate::units::SimTime;

/// What holds one place of an array.
#[derive(Clone, Debug)]
pub struct Member {
    /// Index of the device among all devices.
    pub device: u32,
    /// What of it may be used.
    pub state: MemberState,
}

/// What of a device may be used.
#[derive(Clone, Debug)]
pub enum MemberState {
    /// All of it.
    Online,
    /// Nothing: it has failed.
    Missing,
    /// The rows that have been rebuilt.
    Rebuilding(Progress),
}

/// Progress of a rebuild \[rows\].
#[derive(Clone, Debug)]
pub struct Progress {
    /// When it started.
    pub started: SimTime,
    /// All rows below are done.
    pub front: u64,
    /// Rows above that are done too; at most as many as are in progress at a time.
    pub beyond: Vec<u64>,
    /// The next row to start.
    pub next: u64,
    /// Rows in progress.
    pub in_flight: u32,
    /// Time and row from which the rate counts.
    pub paced: (SimTime, u64),
    /// Whether it waits for its rate.
    pub is_waiting: bool,
    /// Tenths reported in the timeline.
    pub tenths: u64,
}

impl Progress {
    /// Of a rebuild that starts at `now`.
    pub const fn new(now: SimTime) -> Self {
        Self {
            started: now,
            front: 0,
            beyond: Vec::new(),
            next: 0,
            in_flight: 0,
            paced: (now, 0),
            is_waiting: false,
            tenths: 0,
        }
    }

    /// Whether `row` is done.
    pub fn has(&self, row: u64) -> bool {
        row < self.front || self.beyond.contains(&row)
    }

    /// Records that `row` is done.
    pub fn finish(&mut self, row: u64) {
        self.in_flight -= 1;
        self.beyond.push(row);
        while let Some(place) = self.beyond.iter().position(|&done| done == self.front) {
            self.beyond.swap_remove(place);
            self.front += 1;
        }
    }

    /// Rows in progress are to be repeated, from `now` on.
    pub fn start_again(&mut self, now: SimTime) {
        self.beyond.clear();
        (self.next, self.in_flight, self.is_waiting) = (self.front, 0, false);
        self.paced = (now, self.front);
    }
}

/// The members of one array.
#[derive(Clone, Debug)]
pub struct Redundancy {
    /// What holds each place.
    pub members: Vec<Member>,
    /// Hot spares that are left.
    pub spares: u32,
    /// Devices that the array has had so far.
    pub devices: u32,
    /// Places whose disk has failed and has not been replaced, the earliest first.
    pub vacant: Vec<u32>,
}

impl Redundancy {
    /// An array of `disks` devices from `first` on, with `spares` hot spares.
    pub fn new(first: u32, disks: u32, spares: u32) -> Self {
        let members = (first..first + disks).map(|device| Member { device, state: MemberState::Online });
        Self { members: members.collect(), spares, devices: disks, vacant: Vec::new() }
    }

    /// The device that serves `row` of `disk`; `None` if it has failed or that row is not rebuilt yet.
    pub fn serving(&self, disk: u32, row: u64) -> Option<u32> {
        let member = &self.members[disk as usize];
        let serves = match &member.state {
            MemberState::Online => true,
            MemberState::Missing => false,
            MemberState::Rebuilding(progress) => progress.has(row),
        };
        serves.then_some(member.device)
    }

    /// Whether `device`, which held `disk`, has failed.
    pub fn has_lost(&self, disk: u32, device: u32) -> bool {
        let member = &self.members[disk as usize];
        member.device != device || matches!(member.state, MemberState::Missing)
    }

    /// The rebuild onto `device`, if that still holds `disk`.
    pub fn progress(&mut self, disk: u32, device: u32) -> Option<&mut Progress> {
        let member = &mut self.members[disk as usize];
        match &mut member.state {
            MemberState::Rebuilding(progress) if member.device == device => Some(progress),
            _ => None,
        }
    }

    /// Whether all of every disk is there.
    pub fn is_optimal(&self) -> bool {
        self.members.iter().all(|member| matches!(member.state, MemberState::Online))
    }

    /// Whether more is missing than the level tolerates, in any row.
    pub fn has_lost_data(&self, layout: &Layout) -> bool {
        let group = match layout.level() {
            Level::Raid0 => 1,
            Level::Raid1 | Level::Raid10 => 2,
            Level::Raid5 | Level::Raid6 | Level::Raid50 | Level::Raid60 => layout.group_of(0).1,
        };
        let spare = if layout.level().is_mirrored() { 1 } else { layout.level().parities() };
        let is_gone = |member: &&Member| !matches!(member.state, MemberState::Online);
        self.members
            .chunks(group as usize)
            .any(|members| members.iter().filter(is_gone).count() > spare as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Sectors;

    #[test]
    fn rows_may_be_done_out_of_order() {
        let mut progress = Progress::new(SimTime::ZERO);
        (progress.next, progress.in_flight) = (4, 4);
        progress.finish(2);
        assert!(progress.has(2) && !progress.has(0) && !progress.has(1) && progress.front == 0);
        progress.finish(0);
        progress.finish(1);
        assert_eq!((progress.front, progress.beyond.len(), progress.in_flight), (3, 0, 1));
        progress.start_again(SimTime(5));
        assert_eq!((progress.next, progress.in_flight, progress.paced), (3, 0, (SimTime(5), 3)));
    }

    /// Whether an array has lost data once `gone` are missing.
    fn is_lost(level: Level, disks: u32, gone: &[usize]) -> bool {
        let layout = Layout::new(level, disks, Sectors(16), Sectors(160)).unwrap();
        let mut redundancy = Redundancy::new(0, disks, 0);
        for &disk in gone {
            redundancy.members[disk].state = MemberState::Missing;
        }
        redundancy.has_lost_data(&layout)
    }

    #[test]
    fn each_level_tolerates_its_number_of_failures() {
        assert!(is_lost(Level::Raid0, 3, &[1]));
        assert!(!is_lost(Level::Raid1, 2, &[1]) && is_lost(Level::Raid1, 2, &[0, 1]));
        assert!(!is_lost(Level::Raid10, 6, &[0, 3, 4]) && is_lost(Level::Raid10, 6, &[2, 3]));
        assert!(!is_lost(Level::Raid5, 4, &[3]) && is_lost(Level::Raid5, 4, &[0, 3]));
        assert!(!is_lost(Level::Raid6, 5, &[0, 3]) && is_lost(Level::Raid6, 5, &[0, 3, 4]));
        assert!(!is_lost(Level::Raid50, 6, &[0, 3]) && is_lost(Level::Raid50, 6, &[0, 1]));
        assert!(!is_lost(Level::Raid60, 8, &[0, 1, 4, 5]) && is_lost(Level::Raid60, 8, &[0, 1, 2]));
    }

    #[test]
    fn a_partly_rebuilt_disk_serves_its_rebuilt_rows() {
        let layout = Layout::new(Level::Raid5, 3, Sectors(16), Sectors(160)).unwrap();
        let mut redundancy = Redundancy::new(0, 3, 0);
        let mut progress = Progress::new(SimTime::ZERO);
        progress.front = 9;
        redundancy.members[0].state = MemberState::Rebuilding(progress);
        assert_eq!((redundancy.serving(0, 8), redundancy.serving(0, 9)), (Some(0), None));
        assert!(!redundancy.has_lost_data(&layout));
        redundancy.members[1].state = MemberState::Missing;
        assert!(redundancy.has_lost_data(&layout));
    }
}
