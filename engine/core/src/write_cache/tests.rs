use super::*;

fn cache(lines: u64) -> WriteCache {
    // Lines of 4 KiB, stripes of four lines.
    WriteCache::new(Bytes(lines * 4096), Bytes(4096), &[Sectors(32)])
}

fn extents(pairs: &[(u64, u64)]) -> Vec<Extent> {
    pairs.iter().map(|&(lba, n)| Extent { lba: Lba(lba), sectors: Sectors(n) }).collect()
}

#[test]
fn a_full_cache_takes_overwrites_only() {
    let mut cache = cache(2);
    assert_eq!(cache.accept(0, 0, 0xff, true), Accepted::In { absorbed: 0, was_dirty: false });
    assert_eq!(cache.accept(0, 9, 0x0f, true), Accepted::In { absorbed: 0, was_dirty: false });
    assert_eq!(cache.accept(0, 5, 0x01, true), Accepted::Full);
    assert_eq!(cache.accept(0, 9, 0x3c, true), Accepted::In { absorbed: 2, was_dirty: true });
    assert_eq!(cache.dirty_sectors(), 8 + 6);
    assert!(cache.holds(0, 9, 0x3f) && !cache.holds(0, 9, 0x40));
}

#[test]
fn a_stripe_leaves_as_joined_extents_in_elevator_order() {
    let mut cache = cache(16);
    for (line, mask) in [(6, 0xff), (0, 0xff), (1, 0x0f), (3, 0x01), (4, 0xf0)] {
        cache.accept(0, line, mask, true);
    }
    let mut out = Vec::new();
    let (stripe, first, _) = cache.begin_destage(0, |_| false, &mut out).unwrap();
    assert_eq!((stripe, &out), (0, &extents(&[(0, 12), (24, 1)])));
    let (stripe, second, _) = cache.begin_destage(0, |_| false, &mut out).unwrap();
    assert_eq!((stripe, &out), (1, &extents(&[(36, 4), (48, 8)])));
    assert!(cache.begin_destage(0, |_| false, &mut out).is_none());
    assert_eq!(cache.end_destage(first, |_| ()), 13);
    assert_eq!(cache.end_destage(second, |_| ()), 12);
    assert_eq!((cache.used(), cache.dirty_sectors()), (0, 0));
}

#[test]
fn a_line_written_while_it_is_going_stays_dirty() {
    let mut cache = cache(4);
    cache.accept(0, 0, 0x0f, true);
    let mut out = Vec::new();
    let (_, going, _) = cache.begin_destage(0, |_| false, &mut out).unwrap();
    assert_eq!(cache.accept(0, 0, 0x03, true), Accepted::In { absorbed: 0, was_dirty: false });
    assert!(cache.begin_destage(0, |stripe| stripe == 0, &mut out).is_none());
    assert_eq!(cache.end_destage(going, |_| ()), 4);
    assert_eq!((cache.used(), cache.dirty_sectors()), (1, 2));
    assert!(cache.begin_destage(0, |_| false, &mut out).is_some());
    assert_eq!(out, extents(&[(0, 2)]));
}

#[test]
fn a_second_version_takes_a_line_of_its_own() {
    let mut cache = cache(1);
    cache.accept(0, 0, 0x0f, true);
    let (_, going, _) = cache.begin_destage(0, |_| false, &mut Vec::new()).unwrap();
    assert_eq!(cache.accept(0, 0, 0x01, true), Accepted::Full);
    cache.end_destage(going, |_| ());
    assert_eq!(cache.accept(0, 0, 0x01, true), Accepted::In { absorbed: 0, was_dirty: false });
}

#[test]
fn the_elevator_goes_up_and_starts_again_at_the_lowest() {
    let mut cache = cache(16);
    let mut out = Vec::new();
    let mut order = Vec::new();
    for stripe in [5, 2, 9] {
        cache.accept(0, stripe * 4, 1, true);
    }
    order.push(cache.begin_destage(0, |_| false, &mut out).unwrap().0);
    order.push(cache.begin_destage(0, |_| false, &mut out).unwrap().0);
    cache.accept(0, 3 * 4, 1, true);
    while let Some((stripe, _, _)) = cache.begin_destage(0, |_| false, &mut out) {
        order.push(stripe);
    }
    assert_eq!(order, [2, 5, 9, 3]);
}
