use proptest::prelude::*;

use super::*;

const LEVELS: [Level; 5] = [Level::Raid0, Level::Raid1, Level::Raid10, Level::Raid5, Level::Raid6];

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

#[test]
fn strips_lie_where_the_drawing_puts_them() {
    assert_eq!(drawing(&layout(Level::Raid0, 4), 2), ["0 1 2 3", "4 5 6 7"]);
    assert_eq!(drawing(&layout(Level::Raid10, 4), 2), ["0 0 1 1", "2 2 3 3"]);
    assert_eq!(drawing(&layout(Level::Raid1, 2), 2), ["0 0", "1 1"]);
    let raid_5 = ["0 1 2 P", "4 5 P 3", "8 P 6 7", "P 9 10 11", "12 13 14 P"];
    assert_eq!(drawing(&layout(Level::Raid5, 4), 5), raid_5);
    let raid_6 = ["Q 0 1 2 P", "3 4 5 P Q", "7 8 P Q 6", "11 P Q 9 10", "P Q 12 13 14", "Q 15 16 17 P"];
    assert_eq!(drawing(&layout(Level::Raid6, 5), 6), raid_6);
}

#[test]
fn an_address_is_found_by_hand() {
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
    assert_eq!(layout(Level::Raid5, 8).stripes(), 62);
}

#[test]
fn a_request_is_cut_at_strip_boundaries() {
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
fn impossible_arrays_are_refused_with_what_is_allowed() {
    let message =
        |level, disks| Layout::new(level, disks, Sectors(16), Sectors(1000)).unwrap_err().to_string();
    assert_eq!(message(Level::Raid10, 3), "3 disks in RAID 1+0; it needs an even number, 2 or more");
    assert_eq!(message(Level::Raid1, 4), "4 disks in RAID 1; it needs exactly 2 (1+0 takes more)");
    assert_eq!(message(Level::Raid5, 2), "2 disks in RAID 5; it needs 3 or more");
    assert_eq!(message(Level::Raid6, 3), "3 disks in RAID 6; it needs 4 or more");
    assert_eq!(message(Level::Raid0, 0), "0 disks in RAID 0; it needs 1 or more");
    assert!(Layout::new(Level::Raid10, 2, Sectors(16), Sectors(16)).is_ok());
    for stripe_unit in [0, 17] {
        let error = Layout::new(Level::Raid0, 1, Sectors(stripe_unit), Sectors(16)).unwrap_err();
        assert_eq!(error, LayoutError::StripeUnit { stripe_unit, disk_sectors: 16 });
    }
}

#[test]
fn levels_are_written_as_their_numbers() {
    let names = LEVELS.map(|level| serde_json::to_string(&level).unwrap());
    assert_eq!(names, ["\"0\"", "\"1\"", "\"10\"", "\"5\"", "\"6\""]);
    assert_eq!(serde_json::from_str::<Level>("\"10\"").unwrap(), Level::Raid10);
}

fn arrays() -> impl Strategy<Value = Layout> {
    (prop::sample::select(&LEVELS[..]), 1_u32..13, 1_u64..70, 1_u64..200)
        .prop_filter_map("impossible array", |(level, disks, unit, units)| {
            Layout::new(level, disks, Sectors(unit), Sectors(unit * units)).ok()
        })
}

proptest! {
    #[test]
    fn no_two_addresses_share_a_sector_and_parity_shares_none(array in arrays(), stripe in 0.0_f64..1.0) {
        let stripe = (stripe * array.stripes() as f64) as u64;
        let mut used = vec![0_u32; array.disks() as usize];
        for index in 0..array.data_disks() {
            let disk = array.data_disk(stripe, index);
            used[disk as usize] += 1;
            if let Some(mirror) = array.mirror(disk) {
                used[mirror as usize] += 1;
            }
        }
        for disk in array.parity_disks(stripe).into_iter().flatten() {
            used[disk as usize] += 1;
        }
        prop_assert!(used.iter().all(|&count| count == 1), "{:?}", used);
    }

    #[test]
    fn pieces_are_what_locate_says_sector_by_sector(array in arrays(), at in 0.0_f64..1.0, share in 0.0_f64..1.0) {
        let capacity = array.capacity().0;
        let first = (at * capacity as f64) as u64;
        let sectors = (share * (capacity - first).min(2000) as f64) as u64;
        let mut next = first;
        for piece in array.pieces(Lba(first), Sectors(sectors)) {
            prop_assert_eq!(piece.lba, Lba(next));
            for step in 0..piece.sectors.0 {
                let at = array.locate(Lba(next + step));
                prop_assert_eq!((at.stripe, at.index, at.disk), (piece.strip.stripe, piece.strip.index, piece.strip.disk));
                prop_assert_eq!(at.disk_lba.0, piece.strip.disk_lba.0 + step);
                prop_assert_eq!(at.offset.0, piece.strip.offset.0 + step);
                prop_assert_eq!(at.stripe, array.stripe_of(Lba(next + step)));
            }
            next += piece.sectors.0;
        }
        prop_assert_eq!(next, first + sectors);
    }

    #[test]
    fn parity_visits_each_disk_equally_often(disks in 4_u32..13) {
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
