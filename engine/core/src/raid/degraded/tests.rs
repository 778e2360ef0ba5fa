use super::*;
use crate::raid::Level;

fn layout(level: Level, disks: u32) -> Layout {
    Layout::new(level, disks, Sectors(16), Sectors(160)).unwrap()
}

/// The strips from `first` on, each over its whole length.
fn whole(first: u32, k: u32) -> Vec<StripWrite> {
    (first..first + k)
        .map(|index| StripWrite { index, start: Sectors(0), end: Sectors(16), is_solid: true })
        .collect()
}

/// Reads and writes of a write of `k` strips from `first` on of stripe 0, with the given data strips and parities
/// missing.
fn ios(layout: &Layout, (first, k): (u32, u32), data: &[u32], parities: &[usize]) -> (usize, usize) {
    let gone: Vec<u32> = data
        .iter()
        .map(|&index| layout.data_disk(0, index))
        .chain(parities.iter().filter_map(|&parity| layout.parity_disks(0)[parity]))
        .collect();
    let is_there = |disk: u32| !gone.contains(&disk);
    let strips = whole(first, k);
    let mut plan = DegradedReads::default();
    plan.of_write(layout, 0, ParityUpdate::FewestIos, &strips, is_there);
    assert!(plan.reads.iter().all(|read| is_there(read.disk)), "a missing disk is read: {:?}", plan.reads);
    let written = strips.iter().map(|strip| layout.data_disk(0, strip.index));
    let writes = written.chain(layout.parity_disks(0).into_iter().flatten()).filter(|&disk| is_there(disk));
    (plan.reads.len(), writes.count())
}

#[test]
fn a_small_write_to_raid_5_of_eight() {
    let array = layout(Level::Raid5, 8);
    assert_eq!(ios(&array, (0, 1), &[], &[]), (2, 2), "healthy");
    assert_eq!(ios(&array, (0, 1), &[0], &[]), (6, 1), "its strip is missing: the six others, then parity");
    assert_eq!(ios(&array, (0, 1), &[3], &[]), (2, 2), "another strip is missing: read-modify-write");
    assert_eq!(ios(&array, (0, 1), &[], &[0]), (0, 1), "parity is missing: the data alone");
}

#[test]
fn larger_writes_to_raid_5_of_eight() {
    let array = layout(Level::Raid5, 8);
    // Five strips: healthy 2 others to reconstruct; one of the two missing: RMW 6 reads.
    assert_eq!(ios(&array, (0, 5), &[], &[]), (2, 6));
    assert_eq!(ios(&array, (0, 5), &[6], &[]), (6, 6));
    // Six strips and the seventh missing: RMW 7 reads ties with decoding.
    assert_eq!(ios(&array, (0, 6), &[6], &[]), (7, 7));
    assert_eq!(ios(&array, (0, 6), &[0], &[]), (1, 6));
    assert_eq!(ios(&array, (0, 7), &[4], &[]), (0, 7), "a full stripe reads nothing");
    assert_eq!(ios(&array, (0, 7), &[], &[0]), (0, 7));
}

#[test]
fn a_small_write_to_raid_6_of_eight() {
    let array = layout(Level::Raid6, 8);
    assert_eq!(ios(&array, (0, 1), &[], &[]), (3, 3), "healthy");
    assert_eq!(ios(&array, (0, 1), &[0], &[]), (5, 2), "its strip is missing");
    assert_eq!(ios(&array, (0, 1), &[4], &[]), (3, 3), "another strip is missing");
    assert_eq!(ios(&array, (0, 1), &[], &[0]), (2, 2), "one parity is missing: RMW of the other");
    assert_eq!(ios(&array, (0, 1), &[], &[0, 1]), (0, 1), "both parities are missing");
    assert_eq!(ios(&array, (0, 1), &[0, 1], &[]), (6, 2), "its strip and another: decode from n - 2");
    assert_eq!(ios(&array, (0, 1), &[4, 5], &[]), (3, 3), "two others");
    assert_eq!(ios(&array, (0, 1), &[0], &[1]), (5, 1), "its strip and Q");
    assert_eq!(ios(&array, (0, 1), &[4], &[1]), (2, 2), "another and Q");
}

#[test]
fn decoding_reads_as_many_strips_as_hold_data() {
    let reads = |level: Level, disks: u32, gone: &[u32]| {
        let array = layout(level, disks);
        let part = StripPart { disk: gone[0], start: Sectors(2), end: Sectors(5) };
        let mut plan = DegradedReads::default();
        plan.of_parts(&array, 0, &[part], |disk| !gone.contains(&disk));
        assert!(plan.reads.iter().all(|read| !gone.contains(&read.disk)));
        assert!(plan.reads.iter().all(|read| (read.start, read.end) == (Sectors(2), Sectors(5))));
        plan.reads.len()
    };
    assert_eq!(reads(Level::Raid5, 8, &[2]), 7);
    assert_eq!(reads(Level::Raid6, 8, &[2]), 6);
    assert_eq!(reads(Level::Raid6, 8, &[2, 3]), 6);
    assert_eq!(reads(Level::Raid50, 8, &[2]), 3, "its group alone");
    assert_eq!(reads(Level::Raid60, 8, &[2, 1]), 2);
}

#[test]
fn a_wanted_strip_is_read_once() {
    let array = layout(Level::Raid5, 4);
    // Strips 0, 1 and 2 on disks 0, 1 and 2; disk 1 is missing; wanted are the second half of 0, all of 1, some of 2.
    let part = |disk, start, end| StripPart { disk, start: Sectors(start), end: Sectors(end) };
    let mut plan = DegradedReads::default();
    let wanted = [part(0, 8, 16), part(1, 0, 12), part(2, 0, 4)];
    plan.of_parts(&array, 0, &wanted, |disk| disk != 1);
    assert_eq!(plan.reads, [part(0, 0, 16), part(2, 0, 12), part(3, 0, 12)]);
    plan.of_parts(&array, 0, &wanted, |_| true);
    assert_eq!(plan.reads, wanted);
}

#[test]
fn a_strip_with_gaps_is_read_first() {
    let array = layout(Level::Raid5, 5);
    let gapped = [StripWrite { index: 0, start: Sectors(0), end: Sectors(8), is_solid: false }];
    let reads = |gone: u32| {
        let mut plan = DegradedReads::default();
        plan.of_write(&array, 0, ParityUpdate::FewestIos, &gapped, |disk| disk != gone);
        plan.reads.len()
    };
    assert_eq!(reads(4), 1, "parity is missing");
    assert_eq!(reads(0), 4, "its strip is missing, and what lies between the gaps must be decoded");
}

#[test]
fn rmw_is_used_if_possible() {
    let array = layout(Level::Raid5, 5);
    let reads = |k: u32, gone: u32| {
        let mut plan = DegradedReads::default();
        plan.of_write(&array, 0, ParityUpdate::Rmw, &whole(0, k), |disk| disk != gone);
        plan.reads.len()
    };
    assert_eq!(reads(3, 3), 4, "3 strips and parity");
    assert_eq!(reads(3, 0), 1, "strip 3");
    assert_eq!(reads(4, 0), 0, "a full stripe");
}
