use super::*;
use crate::config::DestagePolicy as Policy;
use crate::destage::WaterMarks;
use crate::units::{Lba, SimDuration};

const NOW: SimTime = SimTime::ZERO;

/// Lines of 4 KiB, stripes of four lines, in one array.
pub(super) fn parts(lines: u64, policy: Policy) -> Parts {
    Parts {
        size: Bytes(lines * 4096),
        line: Bytes(4096),
        destage: Destage::new(policy, 1, WaterMarks::new(1, 0)),
        has_age_limit: true,
        prefers_full: false,
        keeps_clean: false,
    }
}

fn cache(lines: u64) -> WriteCache {
    WriteCache::new(parts(lines, Policy::CScan), &[Sectors(32)])
}

fn extents(pairs: &[(u64, u64)]) -> Vec<Extent> {
    pairs.iter().map(|&(lba, n)| Extent { lba: Lba(lba), sectors: Sectors(n) }).collect()
}

/// The next destage as stripe, lines and extents.
fn destage(cache: &mut WriteCache) -> Option<(u64, Link, Vec<Extent>)> {
    let group = cache.choose(0, |_| false)?;
    let mut out = Vec::new();
    let (stripe, in_flight, _) = cache.begin_destage(group, &mut out);
    Some((stripe, in_flight, out))
}

const NEW: Accepted = Accepted::In { absorbed: 0, was_dirty: false };

#[test]
fn a_full_cache_accepts_overwrites_only() {
    let mut cache = cache(2);
    assert_eq!(cache.accept(NOW, 0, 0, 0xff, true), NEW);
    assert_eq!(cache.accept(NOW, 0, 9, 0x0f, true), NEW);
    assert_eq!(cache.accept(NOW, 0, 5, 0x01, true), Accepted::Full);
    assert_eq!(cache.accept(NOW, 0, 9, 0x3c, true), Accepted::In { absorbed: 2, was_dirty: true });
    assert_eq!(cache.dirty_sectors(), 8 + 6);
    assert_eq!((cache.holds(0, 9, 0x3f), cache.holds(0, 9, 0x40)), (Some(Held::Dirty), None));
}

#[test]
fn adjacent_lines_are_destaged_as_one_extent() {
    let mut cache = cache(16);
    for (line, mask) in [(6, 0xff), (0, 0xff), (1, 0x0f), (3, 0x01), (4, 0xf0)] {
        cache.accept(NOW, 0, line, mask, true);
    }
    let (stripe, first, out) = destage(&mut cache).unwrap();
    assert_eq!((stripe, out), (0, extents(&[(0, 12), (24, 1)])));
    let (stripe, second, out) = destage(&mut cache).unwrap();
    assert_eq!((stripe, out), (1, extents(&[(36, 4), (48, 8)])));
    assert!(destage(&mut cache).is_none());
    assert_eq!(cache.end_destage(first, |_, _| ()), 13);
    assert_eq!(cache.end_destage(second, |_, _| ()), 12);
    assert_eq!((cache.used(), cache.dirty_sectors()), (0, 0));
}

#[test]
fn a_line_written_in_flight_stays_dirty() {
    let mut cache = cache(4);
    cache.accept(NOW, 0, 0, 0x0f, true);
    let (_, in_flight, _) = destage(&mut cache).unwrap();
    assert_eq!(cache.accept(NOW, 0, 0, 0x03, true), NEW);
    assert_eq!(cache.choose(0, |stripe| stripe == 0), None);
    assert_eq!(cache.end_destage(in_flight, |_, _| ()), 4);
    assert_eq!((cache.used(), cache.dirty_sectors()), (1, 2));
    assert_eq!(destage(&mut cache).unwrap().2, extents(&[(0, 2)]));
}

#[test]
fn a_second_version_uses_its_own_line() {
    let mut cache = cache(1);
    cache.accept(NOW, 0, 0, 0x0f, true);
    let (_, in_flight, _) = destage(&mut cache).unwrap();
    assert_eq!(cache.accept(NOW, 0, 0, 0x01, true), Accepted::Full);
    cache.end_destage(in_flight, |_, _| ());
    assert_eq!(cache.accept(NOW, 0, 0, 0x01, true), NEW);
}

#[test]
fn fully_dirty_stripes_leave_first_if_preferred() {
    let parts = Parts { prefers_full: true, ..parts(16, Policy::LeastRecentlyWritten) };
    let mut cache = WriteCache::new(parts, &[Sectors(32)]);
    for (line, mask) in [(0, 0xff), (8, 0xff), (9, 0xff), (10, 0xff), (11, 0x7f), (4, 0xff)] {
        cache.accept(NOW, 0, line, mask, true);
    }
    cache.accept(NOW, 0, 11, 0x80, true);
    let order: Vec<_> = std::iter::from_fn(|| destage(&mut cache)).map(|(stripe, _, _)| stripe).collect();
    assert_eq!(order, [2, 0, 1]);
}

#[test]
fn a_group_is_as_old_as_its_first_line() {
    let mut cache = cache(16);
    let limit = SimDuration(10);
    for (at, line) in [(1, 0), (3, 8), (6, 1)] {
        cache.accept(SimTime(at), 0, line, 0xff, true);
    }
    let overdue = |cache: &WriteCache, now, busy| {
        cache
            .overdue(0, SimTime(now), limit, |stripe| stripe == busy)
            .map(|group| cache.groups.get(group).place().stripe)
    };
    assert_eq!(overdue(&cache, 10, 9), None);
    assert_eq!(overdue(&cache, 11, 9), Some(0));
    assert_eq!(overdue(&cache, 12, 0), None, "stripe 2 has two to go");
    assert_eq!(overdue(&cache, 13, 0), Some(2));
    assert_eq!(cache.next_overdue(0, SimTime(11), limit), Some(SimTime(13)));
    assert_eq!(cache.next_overdue(0, SimTime(13), limit), None);
}

#[test]
fn a_write_around_drops_older_dirty_sectors_only() {
    let mut cache = cache(4);
    cache.accept(NOW, 0, 0, 0xff, true);
    cache.accept(NOW, 0, 1, 0x0f, true);
    // Sectors 4 to 11 are written around; meanwhile sector 5 is written again.
    cache.claim(7, 0, 0, Extent { lba: Lba(4), sectors: Sectors(8) });
    cache.accept(NOW, 0, 0, 0x20, true);
    assert_eq!(
        cache.holds(0, 0, 0xff),
        Some(Held::Dirty),
        "until it is on the media, the older is the newest"
    );
    let mut dropped = Vec::new();
    assert_eq!(cache.supersede(7, 0, |line, mask| dropped.push((line, mask))), 3 + 4);
    dropped.sort_unstable();
    assert_eq!(dropped, [(0, 0xd0), (1, 0x0f)]);
    assert_eq!((cache.used(), cache.dirty_sectors()), (1, 5));
    assert_eq!(destage(&mut cache).unwrap().2, extents(&[(0, 4), (5, 1)]));
}

#[test]
fn clean_lines_stay_readable_until_evicted() {
    let mut cache = WriteCache::new(Parts { keeps_clean: true, ..parts(2, Policy::CScan) }, &[Sectors(32)]);
    for line in [0, 8] {
        cache.accept(NOW, 0, line, 0x0f, true);
        let (_, in_flight, _) = destage(&mut cache).unwrap();
        cache.end_destage(in_flight, |_, _| ());
    }
    assert_eq!((cache.used(), cache.holds(0, 0, 0x0f)), (0, Some(Held::Clean)));
    assert_eq!(cache.holds(0, 0, 0x10), None, "only what was written is here");
    // Partly written: dirty and clean sectors together are the whole line.
    cache.accept(NOW, 0, 8, 0x01, true);
    assert_eq!((cache.used(), cache.holds(0, 8, 0x0f)), (1, Some(Held::Clean)));
    assert_eq!(cache.holds(0, 8, 0x01), Some(Held::Dirty));
    // A third line evicts the clean one.
    assert_eq!(cache.accept(NOW, 0, 16, 0x01, true), NEW);
    assert_eq!((cache.used(), cache.holds(0, 0, 0x0f)), (2, None));
    assert_eq!(cache.accept(NOW, 0, 20, 0x01, true), Accepted::Full);
    // Changed on the media.
    cache.forget_clean(0, Extent { lba: Lba(66), sectors: Sectors(1) });
    assert_eq!((cache.holds(0, 8, 0x0f), cache.holds(0, 8, 0x0b)), (None, Some(Held::Clean)));
}

#[test]
fn a_power_cut_restores_or_loses_data_in_flight() {
    let mut cache = cache(4);
    cache.accept(NOW, 0, 0, 0x0f, true);
    cache.accept(NOW, 0, 8, 0xff, true);
    destage(&mut cache).unwrap();
    destage(&mut cache).unwrap();
    cache.accept(NOW, 0, 0, 0x18, true);
    assert_eq!((cache.used(), cache.dirty_sectors()), (3, 14));
    assert_eq!(cache.cut_power(SimTime(5)), 1);
    assert_eq!((cache.used(), cache.dirty_sectors()), (2, 13));
    let (_, in_flight, out) = destage(&mut cache).unwrap();
    assert_eq!(out, extents(&[(0, 5)]));
    assert_eq!(cache.end_destage(in_flight, |_, _| ()), 5);
    cache.lose_all();
    assert_eq!((cache.used(), cache.dirty_sectors()), (0, 0));
    assert!(destage(&mut cache).is_none());
}
