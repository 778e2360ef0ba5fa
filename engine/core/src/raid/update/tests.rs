use super::*;
use crate::raid::Level;

fn layout(level: Level, disks: u32) -> Layout {
    Layout::new(level, disks, Sectors(16), Sectors(160)).unwrap()
}

fn write(index: u32, start: u64, end: u64) -> StripWrite {
    StripWrite { index, start: Sectors(start), end: Sectors(end), is_solid: true }
}

/// The first `k` strips, each over its whole length.
fn whole(k: u32) -> Touched {
    Touched::by(&(0..k).map(|index| write(index, 0, 16)).collect::<Vec<_>>())
}

fn ios(policy: ParityUpdate, layout: &Layout, touched: Touched) -> u32 {
    choose(policy, layout, touched).ios(layout, touched)
}

/// Disk I/Os of a write within one strip.
fn penalty(layout: &Layout, policy: ParityUpdate) -> u32 {
    let touched = Touched::by(&[write(0, 3, 4)]);
    match layout.level() {
        Level::Raid0 => 1,
        Level::Raid1 | Level::Raid10 => 1 + u32::from(layout.mirror(0).is_some()),
        Level::Raid5 | Level::Raid6 | Level::Raid50 | Level::Raid60 => ios(policy, layout, touched),
    }
}

#[test]
fn ios_by_strips_written_as_published() {
    let by_strips = |level, disks, strips: std::ops::RangeInclusive<u32>| {
        let array = layout(level, disks);
        strips.map(|k| ios(ParityUpdate::FewestIos, &array, whole(k))).collect::<Vec<_>>()
    };
    assert_eq!(by_strips(Level::Raid5, 5, 1..=4), [4, 5, 5, 5]);
    assert_eq!(by_strips(Level::Raid5, 9, 1..=8), [4, 6, 8, 9, 9, 9, 9, 9]);
    assert_eq!(by_strips(Level::Raid6, 10, 1..=8), [6, 8, 10, 10, 10, 10, 10, 10]);
    // On few disks reconstructing beats the textbook's read-modify-write.
    assert_eq!(by_strips(Level::Raid5, 3, 1..=2), [3, 3]);
    assert_eq!(by_strips(Level::Raid6, 4, 1..=2), [4, 4]);
    assert_eq!(by_strips(Level::Raid6, 5, 1..=3), [5, 5, 5]);
}

#[test]
fn small_writes_in_groups_have_textbook_penalties() {
    // Groups of four disks in RAID 50 and of six in RAID 60, the least for which the textbook figures hold.
    for (level, disks, groups, expected) in [
        (Level::Raid50, 8, 2, 4),
        (Level::Raid50, 16, 4, 4),
        (Level::Raid60, 12, 2, 6),
        (Level::Raid60, 18, 3, 6),
    ] {
        let array = Layout::grouped(level, disks, groups, Sectors(16), Sectors(160)).unwrap();
        for policy in [ParityUpdate::FewestIos, ParityUpdate::Rmw] {
            assert_eq!(penalty(&array, policy), expected, "{level:?} {policy:?}");
        }
    }
    // A stripe is that of one group: its full-stripe write touches no other.
    let array = Layout::grouped(Level::Raid50, 8, 2, Sectors(16), Sectors(160)).unwrap();
    assert_eq!(ios(ParityUpdate::FewestIos, &array, whole(3)), 4);
}

#[test]
fn ties_go_to_read_modify_write() {
    let way = |level, disks, k| choose(ParityUpdate::FewestIos, &layout(level, disks), whole(k));
    assert_eq!(way(Level::Raid5, 4, 1), Update::ReadModifyWrite);
    assert_eq!(way(Level::Raid6, 6, 1), Update::ReadModifyWrite);
    assert_eq!(way(Level::Raid6, 10, 3), Update::ReadModifyWrite);
    assert_eq!(way(Level::Raid6, 10, 4), Update::ReconstructWrite);
    assert_eq!(way(Level::Raid5, 3, 1), Update::ReconstructWrite);
    assert_eq!(way(Level::Raid5, 9, 8), Update::FullStripe);
}

#[test]
fn rmw_reads_unless_the_stripe_is_whole() {
    let by_strips = |level, disks, most: u32| {
        let array = layout(level, disks);
        (1..=most).map(|k| ios(ParityUpdate::Rmw, &array, whole(k))).collect::<Vec<_>>()
    };
    assert_eq!(by_strips(Level::Raid5, 5, 4), [4, 6, 8, 5]);
    assert_eq!(by_strips(Level::Raid6, 6, 4), [6, 8, 10, 6]);
    assert_eq!(by_strips(Level::Raid5, 3, 2), [4, 3]);
}

#[test]
fn small_writes_have_textbook_penalties() {
    let arrays = [(Level::Raid0, 1), (Level::Raid10, 2), (Level::Raid5, 4), (Level::Raid6, 6)];
    // 8 disks of 136 I/Os per second at 67 % reads, and at none.
    let rates = [(1088.0, 1088.0), (818.0, 544.0), (547.0, 272.0), (411.0, 181.0)];
    for ((level, expected), (mixed, writes)) in arrays.into_iter().zip(rates) {
        for policy in [ParityUpdate::FewestIos, ParityUpdate::Rmw] {
            let penalty = penalty(&layout(level, 8), policy);
            assert_eq!(penalty, expected, "{level:?} {policy:?}");
            let rate = |reads: f64| 8.0 * 136.0 / (reads + (1.0 - reads) * f64::from(penalty));
            assert!((rate(0.67) - mixed).abs() < 0.5, "{level:?}: {}", rate(0.67));
            assert!((rate(0.0) - writes).abs() < 0.5, "{level:?}: {}", rate(0.0));
        }
    }
}

#[test]
fn reconstruction_reads_partly_written_strips() {
    let array = layout(Level::Raid5, 5);
    // A sequential write from the middle of strip 0 to the middle of strip 2 changes parity over the whole strip, and
    // covers it in strip 1 alone. RMW: 3 + 1 reads; reconstruct: strips 0, 2 and 3, 3 reads.
    let touched = Touched::by(&[write(0, 8, 16), write(1, 0, 16), write(2, 0, 8)]);
    assert_eq!(touched, Touched { strips: 3, covering: 1, start: Sectors(0), end: Sectors(16) });
    assert_eq!(choose(ParityUpdate::FewestIos, &array, touched), Update::ReconstructWrite);
    assert_eq!(ios(ParityUpdate::FewestIos, &array, touched), 3 + 4);
    // Two strips: RMW 2 + 1 reads; reconstruct would read all four, since neither covers the range.
    let touched = Touched::by(&[write(0, 8, 16), write(1, 0, 8)]);
    assert_eq!(touched.covering, 0);
    assert_eq!(choose(ParityUpdate::FewestIos, &array, touched), Update::ReadModifyWrite);
    assert_eq!(ios(ParityUpdate::FewestIos, &array, touched), 6);
    // The same offsets in every strip: nothing to read, though no strip is whole.
    let touched = Touched::by(&[0, 1, 2, 3].map(|index| write(index, 4, 8)));
    assert_eq!(touched, Touched { strips: 4, covering: 4, start: Sectors(4), end: Sectors(8) });
    assert_eq!(choose(ParityUpdate::Rmw, &array, touched), Update::FullStripe);
    // A strip with a gap does not cover its own range.
    let gapped = Touched::by(&[StripWrite { is_solid: false, ..write(2, 0, 16) }]);
    assert_eq!((gapped.strips, gapped.covering), (1, 0));
}

#[test]
fn policies_serialise_in_snake_case() {
    assert_eq!(serde_json::to_string(&ParityUpdate::FewestIos).unwrap(), "\"fewest_ios\"");
    assert_eq!(serde_json::from_str::<ParityUpdate>("\"rmw\"").unwrap(), ParityUpdate::Rmw);
    assert_eq!(ParityUpdate::default(), ParityUpdate::FewestIos);
}
