//! The oracle itself: each law, broken by hand.

use super::*;
use crate::battery::State;
use crate::config::Battery;
use crate::slab::Link;
use crate::write_cache::Held;

const LINES: Parent = Parent::Destage { lines: Link::END, run: 0 };

fn extent(lba: u64, sectors: u64) -> [Extent; 1] {
    [Extent { lba: Lba(lba), sectors: Sectors(sectors) }]
}

/// Request 0 has written sectors 0 to 7, and is acknowledged.
fn written() -> Oracle {
    let mut oracle = Oracle::default();
    oracle.accept(Some(0), 0, 0, 8, true);
    oracle.acknowledge(0, 0, Lba(0), Sectors(8), true);
    oracle
}

fn destage(oracle: &mut Oracle, operation: u32, lba: u64, sectors: u64) {
    oracle.plan_write(operation, 0, LINES, &extent(lba, sectors));
    oracle.begin_write(operation);
    oracle.end_write(operation, true);
}

#[test]
fn a_write_that_is_destaged_and_read_breaks_no_law() {
    let mut oracle = written();
    oracle.read_held(0, 0, 8, Held::Dirty);
    destage(&mut oracle, 0, 0, 8);
    oracle.read_media(0, 0, 16);
    oracle.begin_fetch(0, 0, 0, 16);
    oracle.arrive(0, 0, 16);
    oracle.end_fetch(0);
    oracle.read_line(0, 0, 0, 4, 12);
    oracle.compare(0);
    oracle.end_drain();
}

#[test]
fn concurrent_writes_may_take_effect_in_either_order() {
    let mut oracle = Oracle::default();
    oracle.accept(Some(1), 0, 0, 8, true);
    oracle.accept(Some(0), 0, 0, 8, true);
    oracle.acknowledge(1, 0, Lba(0), Sectors(8), true);
    oracle.acknowledge(0, 0, Lba(0), Sectors(8), true);
    destage(&mut oracle, 0, 0, 8);
    oracle.end_drain();
}

#[test]
#[should_panic(expected = "cache that may hold none")]
fn dirty_data_needs_protection() {
    Oracle::default().accept(Some(0), 0, 0, 1, false);
}

#[test]
#[should_panic(expected = "another number taken")]
fn a_write_is_acknowledged_whole() {
    let mut oracle = Oracle::default();
    oracle.accept(Some(0), 0, 0, 4, true);
    oracle.acknowledge(0, 0, Lba(0), Sectors(8), true);
}

#[test]
#[should_panic(expected = "a flush is acknowledged over 8 dirty sectors")]
fn a_flush_leaves_nothing_in_an_unprotected_cache() {
    written().flush(false);
}

#[test]
#[should_panic(expected = "two writes of sector 7")]
fn one_write_of_a_sector_at_a_time() {
    let mut oracle = Oracle::default();
    for (operation, lba) in [(0, 0), (1, 7)] {
        oracle.plan_write(operation, 0, Parent::WriteThrough { request: operation }, &extent(lba, 8));
        oracle.begin_write(operation);
    }
}

#[test]
#[should_panic(expected = "goes back from version")]
fn media_never_go_back() {
    let mut oracle = Oracle::default();
    for operation in [0, 1] {
        oracle.plan_write(operation, 0, Parent::WriteThrough { request: operation }, &extent(0, 1));
    }
    oracle.end_write(1, true);
    oracle.end_write(0, true);
}

#[test]
#[should_panic(expected = "was not dirty")]
fn only_dirty_sectors_are_destaged() {
    let mut oracle = written();
    destage(&mut oracle, 0, 0, 8);
    destage(&mut oracle, 1, 0, 8);
}

#[test]
#[should_panic(expected = "the write cache counts 0 dirty sectors, 1 were left there")]
fn a_forgotten_sector_is_missed() {
    let mut oracle = written();
    destage(&mut oracle, 0, 0, 7);
    oracle.compare(0);
}

#[test]
#[should_panic(expected = "sectors are left in the write cache")]
fn a_drain_leaves_nothing() {
    written().end_drain();
}

#[test]
#[should_panic(expected = "a read of sector 3 of array 0 gives version 0")]
fn a_line_fetched_before_a_write_is_too_old() {
    let mut oracle = Oracle::default();
    oracle.begin_fetch(0, 0, 0, 8);
    oracle.accept(Some(0), 0, 3, 1, true);
    oracle.acknowledge(0, 0, Lba(3), Sectors(1), true);
    destage(&mut oracle, 0, 3, 1);
    oracle.arrive(0, 0, 8);
    oracle.read_line(0, 0, 0, 0, 8);
}

#[test]
#[should_panic(expected = "a read of sector 0 of array 0 gives version 0")]
fn a_fetch_begun_before_a_write_is_too_old() {
    let mut oracle = Oracle::default();
    oracle.begin_fetch(0, 0, 0, 8);
    oracle.accept(Some(0), 0, 0, 1, true);
    oracle.acknowledge(0, 0, Lba(0), Sectors(1), true);
    destage(&mut oracle, 0, 0, 1);
    oracle.read_fetch(0, 0, 0, 8);
}

#[test]
#[should_panic(expected = "which has it not")]
fn the_write_cache_gives_only_what_it_holds() {
    written().read_held(0, 0, 9, Held::Dirty);
}

/// Half of what is written goes to the disks, and the mains are lost.
fn cut() -> Oracle {
    let mut oracle = written();
    oracle.plan_write(0, 0, LINES, &extent(0, 4));
    oracle.begin_write(0);
    oracle.cut_power();
    oracle.lose_mains(SimTime(0), 0.5);
    oracle
}

const HALF_HOLDUP: SimTime = SimTime(36 * 3600 * 1_000_000_000);

#[test]
fn what_was_going_at_a_cut_is_dirty_again() {
    let mut oracle = cut();
    oracle.compare(8);
    oracle.read_held(0, 0, 8, Held::Dirty);
    destage(&mut oracle, 0, 0, 8);
    oracle.end_drain();
}

#[test]
fn data_may_be_lost_once_the_charge_is_used_up() {
    let mut oracle = cut();
    oracle.lose_dirty(HALF_HOLDUP, &Battery::default(), State::Empty);
    oracle.compare(0);
    oracle.read_media(0, 0, 8);
    oracle.end_drain();
}

#[test]
#[should_panic(expected = "are lost although the battery holds them")]
fn nothing_is_lost_before_the_charge_is_used_up() {
    cut().lose_dirty(SimTime(HALF_HOLDUP.0 - 1), &Battery::default(), State::Holding);
}

#[test]
#[should_panic(expected = "are lost although the battery holds them")]
fn nothing_is_lost_once_the_cache_is_in_flash_memory() {
    let kind = crate::config::BatteryKind::Flash;
    let copy_time = Some(crate::units::SimDuration(HALF_HOLDUP.0));
    cut().lose_dirty(
        SimTime(2 * HALF_HOLDUP.0),
        &Battery { kind, copy_time, ..Battery::default() },
        State::Copied,
    );
}

#[test]
fn a_write_through_that_is_cut_may_be_on_the_media_in_part() {
    let mut oracle = Oracle::default();
    oracle.plan_write(0, 0, Parent::WriteThrough { request: 0 }, &extent(0, 8));
    oracle.begin_write(0);
    oracle.cut_power();
    oracle.read_media(0, 0, 8);
    // The next write of it is newer than any part.
    oracle.plan_write(0, 0, Parent::WriteThrough { request: 0 }, &extent(0, 8));
    oracle.begin_write(0);
    oracle.end_write(0, true);
    oracle.acknowledge(0, 0, Lba(0), Sectors(8), false);
    oracle.end_drain();
}

#[test]
#[should_panic(expected = "acknowledged in write-through and not on the media")]
fn write_through_acknowledges_what_is_on_the_media() {
    let mut oracle = Oracle::default();
    oracle.accept(Some(0), 0, 0, 8, true);
    oracle.acknowledge(0, 0, Lba(0), Sectors(8), false);
}
