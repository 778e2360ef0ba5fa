use proptest::prelude::*;

use super::*;

const LEVELS: [Level; 7] =
    [Level::Raid0, Level::Raid1, Level::Raid10, Level::Raid5, Level::Raid6, Level::Raid50, Level::Raid60];

fn layout(level: Level, disks: u32) -> Layout {
    Layout::new(level, disks, Sectors(16), Sectors(1000)).unwrap()
}

/// The contents of each disk, stripe by stripe: the number of the strip, `P` or `Q`.
fn drawing(layout: &Layout, stripes: u64) -> Vec<String> {
    (0..stripes)
        .map(|stripe| {
            let mut row = vec![String::new(); layout.disks() as usize];
            for index in 0..layout.data_disks() {
                let disk = layout.data_disk(stripe, index);
                let name = (stripe * u64::from(layout.data_disks()) + u64::from(index)).to_string();
                if let Some(mirror) = layout.mirror(disk) {
                    row[mirror as usize].clone_from(&name);
                }
                row[disk as usize] = name;
            }
            for (disk, name) in layout.parity_disks(stripe).into_iter().zip(["P", "Q"]) {
                if let Some(disk) = disk {
                    name.clone_into(&mut row[disk as usize]);
                }
            }
            row.join(" ")
        })
        .collect()
}

proptest! {
    #[test]
    fn the_first_piece_is_the_first_of_the_pieces(
        level in 0..LEVELS.len(), disks in 1_u32..9, start in 0_u64..900, sectors in 1_u64..200,
    ) {
        let Ok(layout) = Layout::new(LEVELS[level], disks, Sectors(16), Sectors(1000)) else { return Ok(()) };
        let (start, sectors) = (Lba(start), Sectors(sectors.min(layout.capacity().0 - start)));
        let [first, listed] = [Some(layout.first_piece(start, sectors)), layout.pieces(start, sectors).next()]
            .map(|piece| piece.map(|piece| (piece.strip.disk, piece.strip.disk_lba, piece.lba, piece.sectors)));
        prop_assert_eq!(first, listed);
    }
}

#[test]
fn strips_follow_the_diagram() {
    assert_eq!(drawing(&layout(Level::Raid0, 4), 2), ["0 1 2 3", "4 5 6 7"]);
    assert_eq!(drawing(&layout(Level::Raid10, 4), 2), ["0 0 1 1", "2 2 3 3"]);
    assert_eq!(drawing(&layout(Level::Raid1, 2), 2), ["0 0", "1 1"]);
    let raid_5 = ["0 1 2 P", "4 5 P 3", "8 P 6 7", "P 9 10 11", "12 13 14 P"];
    assert_eq!(drawing(&layout(Level::Raid5, 4), 5), raid_5);
    let raid_6 = ["Q 0 1 2 P", "3 4 5 P Q", "7 8 P Q 6", "11 P Q 9 10", "P Q 12 13 14", "Q 15 16 17 P"];
    assert_eq!(drawing(&layout(Level::Raid6, 5), 6), raid_6);
}

#[test]
fn stripes_alternate_between_groups() {
    let raid_50 = [
        "0 1 P - - -",
        "- - - 2 3 P",
        "5 P 4 - - -",
        "- - - 7 P 6",
        "P 8 9 - - -",
        "- - - P 10 11",
        "12 13 P - - -",
    ];
    let drawn = |level, disks, groups, stripes| {
        let array = Layout::grouped(level, disks, groups, Sectors(16), Sectors(1000)).unwrap();
        drawing(&array, stripes)
            .iter()
            .map(|row| {
                row.split(' ').map(|cell| if cell.is_empty() { "-" } else { cell }).collect::<Vec<_>>()
            })
            .map(|row| row.join(" "))
            .collect::<Vec<_>>()
    };
    assert_eq!(drawn(Level::Raid50, 6, 2, 7), raid_50);
    let raid_60 =
        ["Q 0 1 P - - - -", "- - - - Q 2 3 P", "4 5 P Q - - - -", "- - - - 6 7 P Q", "9 P Q 8 - - - -"];
    assert_eq!(drawn(Level::Raid60, 8, 2, 5), raid_60);
    // A group alone is laid out as RAID 5 of its own.
    let (group, alone) = (drawn(Level::Raid50, 9, 3, 9), drawn(Level::Raid5, 3, 1, 3));
    let places = |row: &str| row.chars().filter(|c| c.is_ascii_alphabetic() || *c == ' ').collect::<String>();
    for row in 0..3 {
        assert!(places(&group[3 * row]).starts_with(&places(&alone[row])), "{group:?}");
    }
}

#[test]
fn groups_divide_the_disks() {
    for (level, disks, groups) in [
        (Level::Raid50, 7, 2),
        (Level::Raid50, 4, 2),
        (Level::Raid60, 6, 2),
        (Level::Raid50, 8, 4),
        (Level::Raid50, 6, 1),
        (Level::Raid60, 8, 0),
    ] {
        let error = Layout::grouped(level, disks, groups, Sectors(16), Sectors(1000)).unwrap_err();
        assert_eq!(error, LayoutError::Groups { level, disks, groups });
    }
    assert!(Layout::grouped(Level::Raid60, 12, 3, Sectors(16), Sectors(1000)).is_ok());
    // Other levels have no groups.
    assert!(Layout::grouped(Level::Raid5, 7, 2, Sectors(16), Sectors(1000)).is_ok());
}

#[test]
fn one_disk_and_one_pair_do_not_split_requests() {
    for (level, disks, pieces) in [
        (Level::Raid0, 1, 1),
        (Level::Raid1, 2, 1),
        (Level::Raid10, 2, 1),
        (Level::Raid0, 2, 4),
        (Level::Raid10, 4, 4),
        (Level::Raid5, 3, 4),
    ] {
        assert_eq!(layout(level, disks).pieces(Lba(8), Sectors(50)).count(), pieces, "{level:?}");
    }
    let whole = layout(Level::Raid1, 2).pieces(Lba(8), Sectors(50)).next().unwrap();
    assert_eq!((whole.strip.disk_lba, whole.sectors), (Lba(8), Sectors(50)));
}

#[test]
fn address_worked_by_hand() {
    // RAID 5 on four disks, 16 sectors per unit: sector 100 = strip 6 + 4, stripe 2, first strip, disk 2 (see above).
    let array = layout(Level::Raid5, 4);
    let expected = Strip { stripe: 2, index: 0, offset: Sectors(4), disk: 2, disk_lba: Lba(2 * 16 + 4) };
    assert_eq!(array.locate(Lba(100)), expected);
    assert_eq!(array.stripe_of(Lba(95)), 1);
    assert_eq!(array.stripe_of(Lba(96)), 2);
    assert_eq!(array.stripe_start(2), Lba(96));
    assert_eq!(array.stripe_sectors(), Sectors(48));
}

#[test]
fn capacity_counts_whole_stripe_units_of_data_disks() {
    // 1000 / 16 = 62 whole units.
    let capacities: Vec<u64> =
        [(Level::Raid0, 1), (Level::Raid1, 2), (Level::Raid10, 8), (Level::Raid5, 8), (Level::Raid6, 8)]
            .map(|(level, disks)| layout(level, disks).capacity().0 / (62 * 16))
            .to_vec();
    assert_eq!(capacities, [1, 1, 4, 7, 6]);
    let grouped = |level, disks, groups| {
        Layout::grouped(level, disks, groups, Sectors(16), Sectors(1000)).unwrap().capacity().0 / (62 * 16)
    };
    assert_eq!([grouped(Level::Raid50, 8, 2), grouped(Level::Raid60, 8, 2)], [6, 4]);
    assert_eq!([grouped(Level::Raid50, 12, 4), grouped(Level::Raid60, 12, 3)], [8, 6]);
    assert_eq!(layout(Level::Raid5, 8).stripes(), 62);
}

#[test]
fn requests_are_split_at_strip_boundaries() {
    let array = layout(Level::Raid5, 4);
    let pieces: Vec<_> = array
        .pieces(Lba(40), Sectors(40))
        .map(|piece| (piece.lba.0, piece.sectors.0, piece.strip.disk, piece.strip.disk_lba.0))
        .collect();
    // Strip 2 from its middle (disk 2), strips 3 (disk 3) and 4 (disk 0) of stripe 1 whole.
    assert_eq!(pieces, [(40, 8, 2, 8), (48, 16, 3, 16), (64, 16, 0, 16)]);
    assert_eq!(array.pieces(Lba(40), Sectors(0)).count(), 0);
}

#[test]
fn impossible_arrays_are_refused() {
    let error = |level, disks| Layout::new(level, disks, Sectors(16), Sectors(1000)).unwrap_err();
    for (level, disks) in
        [(Level::Raid10, 3), (Level::Raid1, 4), (Level::Raid5, 2), (Level::Raid6, 3), (Level::Raid0, 0)]
    {
        assert_eq!(error(level, disks), LayoutError::Disks { level, disks });
    }
    assert!(Layout::new(Level::Raid10, 2, Sectors(16), Sectors(16)).is_ok());
    for stripe_unit in [0, 17] {
        let error = Layout::new(Level::Raid0, 1, Sectors(stripe_unit), Sectors(16)).unwrap_err();
        assert_eq!(error, LayoutError::StripeUnit { stripe_unit, disk_sectors: 16 });
    }
}

#[test]
fn levels_serialise_as_numbers() {
    let names = LEVELS.map(|level| serde_json::to_string(&level).unwrap());
    assert_eq!(names, ["\"0\"", "\"1\"", "\"10\"", "\"5\"", "\"6\"", "\"50\"", "\"60\""]);
    assert_eq!(serde_json::from_str::<Level>("\"10\"").unwrap(), Level::Raid10);
}

fn arrays() -> impl Strategy<Value = Layout> {
    (prop::sample::select(&LEVELS[..]), 1_u32..17, 2_u32..5, 1_u64..70, 1_u64..200).prop_filter_map(
        "impossible array",
        |(level, disks, groups, unit, units)| {
            Layout::grouped(level, disks, groups, Sectors(unit), Sectors(unit * units)).ok()
        },
    )
}

proptest! {
    #[test]
    fn each_row_has_one_strip_per_disk(array in arrays(), row in 0.0_f64..1.0) {
        let row = (row * array.rows() as f64) as u64;
        let groups = array.stripes() / array.rows();
        let mut used = vec![0_u32; array.disks() as usize];
        for stripe in row * groups..(row + 1) * groups {
            prop_assert_eq!(array.row_of(stripe), row);
            prop_assert_eq!(array.disk_lba(stripe).0, row * array.stripe_unit().0);
            let (first, count) = array.group_of(stripe);
            let mut take = |disk: u32| {
                assert!((first..first + count).contains(&disk), "disk {disk} of another group");
                assert_eq!(array.stripe_on(disk, row), stripe);
                used[disk as usize] += 1;
            };
            for index in 0..array.data_disks() {
                let disk = array.data_disk(stripe, index);
                take(disk);
                prop_assert_eq!(array.index_on(stripe, disk), Some(index));
                if let Some(mirror) = array.mirror(disk) {
                    take(mirror);
                    prop_assert_eq!(array.index_on(stripe, mirror), Some(index));
                }
            }
            for disk in array.parity_disks(stripe).into_iter().flatten() {
                take(disk);
                prop_assert_eq!(array.index_on(stripe, disk), None);
            }
        }
        prop_assert!(used.iter().all(|&count| count == 1), "{:?}", used);
    }

    #[test]
    fn pieces_agree_with_locate(array in arrays(), at in 0.0_f64..1.0, share in 0.0_f64..1.0) {
        let capacity = array.capacity().0;
        let first = (at * capacity as f64) as u64;
        let sectors = (share * (capacity - first).min(2000) as f64) as u64;
        let mut next = first;
        for piece in array.pieces(Lba(first), Sectors(sectors)) {
            prop_assert_eq!(piece.lba, Lba(next));
            for step in 0..piece.sectors.0 {
                let at = array.locate(Lba(next + step));
                prop_assert_eq!((at.disk, at.disk_lba.0), (piece.strip.disk, piece.strip.disk_lba.0 + step));
                if !array.is_one_column() {
                    prop_assert_eq!((at.stripe, at.index), (piece.strip.stripe, piece.strip.index));
                    prop_assert_eq!(at.offset.0, piece.strip.offset.0 + step);
                }
                prop_assert_eq!(at.stripe, array.stripe_of(Lba(next + step)));
            }
            next += piece.sectors.0;
        }
        prop_assert_eq!(next, first + sectors);
    }

    #[test]
    fn parity_is_spread_evenly(disks in 4_u32..13) {
        for level in [Level::Raid5, Level::Raid6] {
            let array = layout(level, disks);
            let mut visits = vec![0_u32; disks as usize];
            for stripe in 0..u64::from(disks) {
                for disk in array.parity_disks(stripe).into_iter().flatten() {
                    visits[disk as usize] += 1;
                }
            }
            prop_assert!(visits.iter().all(|&count| count == level.parities()), "{:?}", visits);
        }
    }
}
