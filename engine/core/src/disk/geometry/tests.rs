use proptest::prelude::*;

use super::*;
use crate::config::SpareRange;
use crate::units::Bytes;

const QUARTER: u32 = 1 << 30;

/// Two zones, two surfaces, 8 ms per turn: 8 then 4 sectors per track (1 ms and 2 ms each); the head switch takes
/// 1 ms (1 sector in either zone), a seek of one 2.5 ms (3 and 2 sectors).
fn small() -> Geometry {
    Geometry::from_zones(2, &[Zone::new(2, 8), Zone::new(3, 4)], small_times()).unwrap()
}

fn small_times() -> SwitchTimes {
    SwitchTimes {
        revolution: SimDuration(8_000_000),
        head_switch: SimDuration(1_000_000),
        single_cylinder_seek: SimDuration(2_500_000),
        write_settle: SimDuration::ZERO,
    }
}

#[test]
fn counts_and_default_skews_worked_by_hand() {
    let disk = small();
    assert_eq!(disk.sectors(), Sectors(2 * 2 * 8 + 3 * 2 * 4));
    assert_eq!(disk.cylinders(), 5);
    let skews: Vec<_> = disk.zones().iter().map(|zone| (zone.track_skew, zone.cylinder_skew)).collect();
    assert_eq!(skews, [(Some(1), Some(3)), (Some(1), Some(2))]);
}

#[test]
fn sectors_follow_the_diagram() {
    let disk = small();
    let place = |lba| {
        let at = disk.locate(Lba(lba));
        (at.cylinder, at.surface, at.sector, at.track_left, at.angle)
    };
    let eighth = QUARTER / 2;
    assert_eq!(place(0), (0, 0, 0, 8, 0));
    assert_eq!(place(5), (0, 0, 5, 3, 5 * eighth));
    // One sector of track skew, then three of cylinder skew on top.
    assert_eq!(place(8), (0, 1, 0, 8, eighth));
    assert_eq!(place(16), (1, 0, 0, 8, 4 * eighth));
    assert_eq!(place(31), (1, 1, 7, 1, 4 * eighth));
    // Zone 1 begins a cylinder skew of zone 0 after the last track: 5/8 + 3/8.
    assert_eq!(place(32), (2, 0, 0, 4, 0));
    assert_eq!(place(36), (2, 1, 0, 4, QUARTER));
    assert_eq!(place(40), (3, 0, 0, 4, 3 * QUARTER));
    assert_eq!(place(55), (4, 1, 3, 1, 2 * QUARTER));
}

#[test]
fn a_transfer_pays_for_each_switch() {
    let disk = small();
    let passed = |lba, sectors| {
        let done = disk.transfer(&disk.locate(Lba(lba)), Sectors(sectors), SimDuration(8_000_000));
        (done.time.0, done.cylinder, done.surface)
    };
    assert_eq!(passed(0, 1), (1_000_000, 0, 0));
    assert_eq!(passed(0, 8), (8_000_000, 0, 0));
    assert_eq!(passed(7, 2), (3_000_000, 0, 1));
    // Cylinder skew of 3 sectors between surface 1 of cylinder 0 and surface 0 of cylinder 1.
    assert_eq!(passed(15, 2), (5_000_000, 1, 0));
    // Out of zone 0 (3 sectors of 1 ms) into zone 1, where a sector takes 2 ms.
    assert_eq!(passed(31, 2), (1_000_000 + 3_000_000 + 2_000_000, 2, 0));
    // The whole disk: 32 x 1 ms + 24 x 2 ms, switches 2 x 1 + 2 x 3 ms in zone 0 and 3 x 2 + 2 x 4 ms in zone 1.
    assert_eq!(passed(0, 56), (32_000_000 + 48_000_000 + 8_000_000 + 14_000_000, 4, 1));
}

#[test]
fn an_uncovered_switch_loses_a_whole_revolution() {
    let zone = Zone { track_skew: Some(0), cylinder_skew: Some(2), ..Zone::new(2, 8) };
    let disk = Geometry::from_zones(2, &[zone], small_times()).unwrap();
    let time = |lba| disk.transfer(&disk.locate(Lba(lba)), Sectors(2), SimDuration(8_000_000)).time.0;
    assert_eq!(time(7), 8_000_000 + 2_000_000);
    assert_eq!(time(15), 8_000_000 + 2_000_000 + 2_000_000);
    // A spindle that turns 0.1 % faster scales everything and loses no further turn.
    let fast = disk.transfer(&disk.locate(Lba(7)), Sectors(2), SimDuration(7_992_000)).time.0;
    assert_eq!(fast, 9_990_000);
}

#[test]
fn the_hp_97560_has_its_published_capacity() {
    // 1,962 cylinders x 19 surfaces x 72 sectors (Ruemmler & Wilkes 1994); 14.99 ms per turn at 4,002 rpm.
    let times = SwitchTimes {
        revolution: SimDuration(14_992_504),
        head_switch: SimDuration(1_600_000),
        single_cylinder_seek: SimDuration(3_640_000),
        write_settle: SimDuration::ZERO,
    };
    let disk = Geometry::from_zones(19, &[Zone::new(1962, 72)], times).unwrap();
    assert_eq!(disk.sectors(), Sectors(2_684_016));
    // ceil(1.6 / 14.99 * 72) = ceil(7.68), ceil(3.64 / 14.99 * 72) = ceil(17.48)
    assert_eq!((disk.zones()[0].track_skew, disk.zones()[0].cylinder_skew), (Some(8), Some(18)));
}

#[test]
fn rates_and_capacity_of_a_data_sheet_are_met() {
    // 36.4 GB at 94 to 63 MB/s and 10,000 rpm; each switch before a write takes 0.7 ms.
    let times = SwitchTimes {
        revolution: SimDuration(6_000_000),
        head_switch: SimDuration(300_000),
        single_cylinder_seek: SimDuration(200_000),
        write_settle: SimDuration(400_000),
    };
    let capacity = Bytes(36_400_000_000);
    let disk = Geometry::from_rates(capacity, 51_052, 94_000_000, 63_000_000, 16, times).unwrap();
    assert_eq!(disk.sectors(), capacity.sectors());
    assert_eq!(disk.surfaces(), 2);
    // 94e6 x 0.0067 / 512 = 1230.08 and 63e6 x 0.0067 / 512 = 824.41 sectors per track.
    assert_eq!(disk.zones().first().unwrap().sectors_per_track, 1230);
    assert_eq!(disk.zones().last().unwrap().sectors_per_track, 824);
    // 35.55 M sectors on each surface at 1027.2 on the mean track.
    assert!((34_550..34_660).contains(&disk.cylinders()), "{}", disk.cylinders());
    assert_eq!(disk.locate(Lba(disk.sectors().0 - 1)).cylinder, disk.cylinders() - 1);
    let shares: Vec<u32> = disk.zones().iter().map(|zone| zone.cylinders).collect();
    assert!(shares.iter().max().unwrap() - shares.iter().min().unwrap() <= 1);
    // One zone alone takes the mean rate: 78.5e6 x 0.0067 / 512 = 1027.25.
    let one = Geometry::from_rates(capacity, 51_052, 94_000_000, 63_000_000, 1, times).unwrap();
    assert_eq!(one.zones()[0].sectors_per_track, 1027);
}

#[test]
fn sustained_rates_include_the_switches() {
    for (rpm, gigabytes, outer, inner, settle) in
        [(15_000, 600, 204_000_000, 122_000_000, 500_000), (7_200, 18_000, 270_000_000, 130_000_000, 0)]
    {
        let times = SwitchTimes {
            revolution: SimDuration(60_000_000_000 / rpm),
            head_switch: SimDuration(300_000),
            single_cylinder_seek: SimDuration(500_000),
            write_settle: SimDuration(settle),
        };
        let capacity = Bytes(gigabytes * 1_000_000_000);
        let disk = Geometry::from_rates(capacity, 600_000, outer, inner, 16, times).unwrap();
        let sectors = 2_000_000_u64;
        for (first, rate) in [(0, outer), (disk.sectors().0 - sectors, inner)] {
            let time = disk.transfer(&disk.locate(Lba(first)), Sectors(sectors), times.revolution).time.0;
            let found = sectors as f64 * 512e9 / time as f64;
            assert!((found / rate as f64 - 1.0).abs() < 0.002, "{found} bytes/s, not {rate}");
        }
    }
}

#[test]
fn impossible_disks_are_refused() {
    let times = small_times();
    let zero = |surfaces, zones: &[Zone]| Geometry::from_zones(surfaces, zones, times).unwrap_err();
    assert_eq!(zero(0, &[Zone::new(1, 1)]), GeometryError::Zero { what: "surfaces" });
    assert_eq!(zero(1, &[]), GeometryError::Zero { what: "zones" });
    assert_eq!(zero(1, &[Zone::new(1, 0)]), GeometryError::Zero { what: "sectors per track" });
    let skewed = Zone { track_skew: Some(8), ..Zone::new(1, 8) };
    assert_eq!(
        Geometry::from_zones(1, &[skewed], times).unwrap_err(),
        GeometryError::SkewTooLarge { skew: 8, sectors_per_track: 8 }
    );
    assert_eq!(
        Geometry::from_zones(65_536, &[Zone::new(65_536, 8)], times).unwrap_err(),
        GeometryError::TooManyTracks { cylinders: 65_536, surfaces: 65_536 }
    );
    let rates =
        |capacity, outer, zones| Geometry::from_rates(Bytes(capacity), 10, outer, 64_000, zones, times);
    assert_eq!(
        rates(512, 63_999, 1).unwrap_err(),
        GeometryError::RatesReversed { outer: 63_999, inner: 64_000 }
    );
    assert_eq!(rates(512, 64_000, 11).unwrap_err(), GeometryError::TooManyZones { zones: 11, cylinders: 10 });
    // 64,000 bytes/s x 8 ms = 1 sector per turn, so 10 sectors per surface: 64 surfaces hold 640 sectors.
    assert_eq!(rates(640 * 512, 64_000, 1).unwrap().surfaces(), 64);
    assert_eq!(
        rates(641 * 512, 64_000, 1).unwrap_err(),
        GeometryError::TooManySurfaces { capacity: 641 * 512, surfaces: 65, per_surface: 5120 }
    );
}

#[test]
fn a_track_of_one_sector_takes_a_whole_turn() {
    let disk = Geometry::from_zones(1, &[Zone::new(4, 1)], small_times()).unwrap();
    let at = disk.locate(Lba(2));
    assert_eq!((at.cylinder, at.sector, at.track_left, at.angle), (2, 0, 1, 0));
    assert_eq!(disk.transfer(&at, Sectors(1), SimDuration(8_000_000)).time.0, 8_000_000);
}

fn disks() -> impl Strategy<Value = (u32, Vec<(u32, u32)>)> {
    (1_u32..6, prop::collection::vec((1_u32..40, 1_u32..300), 1..5))
}

proptest! {
    #[test]
    fn locate_agrees_with_counting((surfaces, sizes) in disks(), pick in 0.0_f64..1.0) {
        let zones: Vec<Zone> = sizes.iter().map(|&(cylinders, track)| Zone::new(cylinders, track)).collect();
        let disk = Geometry::from_zones(surfaces, &zones, small_times()).unwrap();
        let lba = (pick * disk.sectors().0 as f64) as u64;
        let (mut left, mut cylinder) = (lba, 0);
        let mut expected = None;
        'search: for zone in &zones {
            for _ in 0..zone.cylinders {
                for surface in 0..surfaces {
                    if left < u64::from(zone.sectors_per_track) {
                        expected = Some((cylinder, surface, left as u32));
                        break 'search;
                    }
                    left -= u64::from(zone.sectors_per_track);
                }
                cylinder += 1;
            }
        }
        let at = disk.locate(Lba(lba));
        prop_assert_eq!(Some((at.cylinder, at.surface, at.sector)), expected);
    }

    #[test]
    fn a_transfer_ends_at_the_angle_of_its_last_sector((surfaces, sizes) in disks(), from in 0.0_f64..1.0, to in 0.0_f64..1.0) {
        // Covered or not, a switch ends when the next sector comes by: time and angle tell the same story.
        let zones: Vec<Zone> = sizes.iter().map(|&(cylinders, track)| Zone::new(cylinders, track)).collect();
        let disk = Geometry::from_zones(surfaces, &zones, small_times()).unwrap();
        let total = disk.sectors().0;
        let first = (from * total as f64) as u64;
        let sectors = 1 + (to * (total - first) as f64) as u64;
        let sectors = sectors.min(total - first);
        let start = disk.locate(Lba(first));
        let last = disk.locate(Lba(first + sectors - 1));
        let revolution = 1_u64 << 32;
        let done = disk.transfer(&start, Sectors(sectors), SimDuration(revolution));
        prop_assert_eq!((done.cylinder, done.surface), (last.cylinder, last.surface));
        let sector = revolution / u64::from(last.sectors_per_track);
        let end = last.angle.wrapping_add(sector as u32);
        let off = (start.angle.wrapping_add(done.time.0 as u32)).wrapping_sub(end).cast_signed();
        prop_assert!(off.abs() <= 4096, "off by {} of 2^32", off);
    }
}

#[test]
fn spares_and_reserved_sectors_worked_by_hand() {
    let places = |zone: Zone, lbas: &[u64]| {
        let disk = Geometry::from_zones(2, &[zone, Zone::new(1, 8)], small_times()).unwrap();
        let place = |&lba: &u64| {
            let at = disk.locate(Lba(lba));
            (at.cylinder, at.surface, at.sector)
        };
        (disk.sectors().0, lbas.iter().map(place).collect::<Vec<_>>())
    };
    // Four cylinders of 2 x 8 sectors, then one more cylinder of 16.
    let zone = Zone::new(4, 8);
    // Ten sectors for the disk's own use: sector 0 is the third of the second track.
    let front = Zone { front_sectors: 10, ..zone };
    assert_eq!(
        places(front, &[0, 5, 6, 53, 54]),
        (64 - 10 + 16, vec![(0, 1, 2), (0, 1, 7), (1, 0, 0), (3, 1, 7), (4, 0, 0)],)
    );
    // A spare at the end of each track: seven sectors with data.
    let per_track = Zone { spares_per_track: 1, ..zone };
    assert_eq!(
        places(per_track, &[6, 7, 14, 55, 56]),
        (56 + 16, vec![(0, 0, 6), (0, 1, 0), (1, 0, 0), (3, 1, 6), (4, 0, 0)],)
    );
    // Five spares at the end of each range of three cylinders: 43 sectors of 48, and the last cylinder alone has 11.
    let ranges = Zone { spare_range: Some(SpareRange { cylinders: 3, sectors: 5 }), ..zone };
    assert_eq!(
        places(ranges, &[42, 43, 53, 54]),
        (43 + 11 + 16, vec![(2, 1, 2), (3, 0, 0), (3, 1, 2), (4, 0, 0)],)
    );
    // Spares of each cylinder, after two sectors for the disk's own use.
    let cylinders =
        Zone { front_sectors: 2, spare_range: Some(SpareRange { cylinders: 1, sectors: 4 }), ..zone };
    assert_eq!(places(cylinders, &[0, 9, 10]), (48 - 2 + 16, vec![(0, 0, 2), (0, 1, 3), (1, 0, 0)]));
}

#[test]
fn zones_without_data_are_refused() {
    let zone = Zone::new(4, 8);
    let slots_of = |zone: Zone| match Geometry::from_zones(2, &[zone], small_times()) {
        Err(GeometryError::AllSpare { spare_sectors, slots }) => (spare_sectors, slots),
        other => panic!("{other:?}"),
    };
    assert_eq!(slots_of(Zone { front_sectors: 60, spare_sectors: 4, ..zone }), (64, 64));
    assert_eq!(slots_of(Zone { spares_per_track: 8, ..zone }), (8, 8));
    let range = |cylinders, sectors| Zone { spare_range: Some(SpareRange { cylinders, sectors }), ..zone };
    assert_eq!(slots_of(range(3, 16)), (16, 16));
    assert_eq!(slots_of(range(9, 64)), (64, 64));
}
