//! Mistakes built into random runs: the oracle finds each of them.

use std::panic::{AssertUnwindSafe, catch_unwind};

use proptest::strategy::{Strategy as _, ValueTree as _};
use proptest::test_runner::TestRunner;

use super::runs::{build, run};
use super::scenarios::scenario;
use crate::disk::Device;
use crate::mutation::Mutation;

/// What the oracle says of the first of 300 random runs with `mutation` that it stops.
fn verdict(mutation: Mutation) -> Option<String> {
    let mut runner = TestRunner::deterministic();
    (0..300).find_map(|_| {
        let mut simulation = build(&scenario().new_tree(&mut runner).unwrap().current());
        simulation.build_in(mutation);
        if mutation == Mutation::ForceInBuffer {
            for device in &mut simulation.arrays.devices {
                if let Device::Drive(drive) = device {
                    drive.ignore_force();
                }
            }
        }
        let payload = catch_unwind(AssertUnwindSafe(|| run(&mut simulation))).err()?;
        payload.downcast_ref::<String>().cloned()
    })
}

#[test]
fn a_destage_that_forgets_an_extent_is_found() {
    let said = verdict(Mutation::ForgottenExtent).unwrap();
    assert!(said.contains("dirty sectors"), "{said}");
}

#[test]
fn a_second_version_that_is_lost_is_found() {
    let said = verdict(Mutation::LostSecondVersion).unwrap();
    assert!(said.contains("dirty sectors") || said.contains("gives version"), "{said}");
}

#[test]
fn an_older_dirty_version_that_a_write_around_the_cache_leaves_is_found() {
    let said = verdict(Mutation::StaleDirty).unwrap();
    assert!(said.contains("goes back from version") || said.contains("gives version"), "{said}");
}

#[test]
fn a_newer_dirty_version_that_a_write_around_the_cache_drops_is_found() {
    let said = verdict(Mutation::GreedyClaim).unwrap();
    assert!(said.contains("is dropped for an older version"), "{said}");
}

#[test]
fn a_stripe_that_loses_a_sector_when_it_comes_of_age_is_found() {
    let said = verdict(Mutation::LostWithAge).unwrap();
    assert!(said.contains("dirty sectors") || said.contains("gives version"), "{said}");
}

#[test]
fn a_clean_line_older_than_the_media_is_found() {
    let said = verdict(Mutation::StaleClean).unwrap();
    assert!(said.contains("a read of sector"), "{said}");
}

#[test]
fn a_stale_fetch_that_becomes_valid_is_found() {
    let said = verdict(Mutation::StaleFetch).unwrap();
    assert!(said.contains("a read of sector"), "{said}");
}

#[test]
fn writes_that_overlap_on_the_disks_are_found() {
    let said = verdict(Mutation::OverlappingWrites).unwrap();
    assert!(said.contains("two writes of sector"), "{said}");
}

#[test]
fn a_write_that_is_acknowledged_too_early_is_found() {
    let said = verdict(Mutation::EarlyAcknowledgement).unwrap();
    assert!(said.contains("another number taken"), "{said}");
}

#[test]
fn a_flush_that_does_not_wait_for_the_drain_is_found() {
    let said = verdict(Mutation::FlushOverDirty).unwrap();
    assert!(said.contains("a flush is acknowledged over"), "{said}");
}

#[test]
fn a_stalled_write_that_stays_in_a_cache_that_drains_is_found() {
    let said = verdict(Mutation::StalledInParts).unwrap();
    assert!(said.contains("another number taken") || said.contains("not on the media"), "{said}");
}

#[test]
fn a_power_cut_that_forgets_destages_is_found() {
    let said = verdict(Mutation::CutForgetsDestages).unwrap();
    assert!(said.contains("the write cache counts"), "{said}");
}

#[test]
fn data_lost_while_the_battery_holds_them_are_found() {
    let said = verdict(Mutation::EarlyLoss).unwrap();
    assert!(said.contains("are lost although the battery holds them"), "{said}");
}

#[test]
fn a_write_that_leaves_out_the_new_disk_is_found() {
    let said = verdict(Mutation::ForgottenNewDisk).unwrap();
    assert!(said.contains("not match its data") || said.contains("version"), "{said}");
}

#[test]
fn a_degraded_write_that_leaves_out_the_parity_is_found() {
    let said = verdict(Mutation::ForgottenParity).unwrap();
    assert!(said.contains("not match its data") || said.contains("version"), "{said}");
}

#[test]
fn a_decoding_read_among_writes_is_found() {
    let said = verdict(Mutation::UnlockedReconstruction).unwrap();
    assert!(said.contains("a disk read of sector"), "{said}");
}

#[test]
fn a_rebuild_among_writes_is_found() {
    let said = verdict(Mutation::UnlockedRebuild).unwrap();
    assert!(said.contains("version") || said.contains("not match its data"), "{said}");
}

#[test]
fn an_operation_that_ignores_a_failed_disk_is_found() {
    let said = verdict(Mutation::IgnoredFailure).unwrap();
    assert!(said.contains("cannot be") || said.contains("were not read"), "{said}");
}

#[test]
fn a_plan_from_before_a_failure_is_found() {
    let said = verdict(Mutation::OutdatedPlan).unwrap();
    assert!(
        said.contains("cannot be") || said.contains("were not read") || said.contains("version"),
        "{said}"
    );
}

#[test]
fn a_flush_that_does_not_reach_the_drives_is_found() {
    let said = verdict(Mutation::UnflushedDrives).unwrap();
    assert!(said.contains("is only in the drive's cache"), "{said}");
}

#[test]
fn a_destage_that_is_not_forced_is_found() {
    let said = verdict(Mutation::UnforcedDestage).unwrap();
    assert!(said.contains("is only in a drive's cache"), "{said}");
}

#[test]
fn a_rebuild_that_is_not_forced_is_found() {
    let said = verdict(Mutation::UnforcedRebuild).unwrap();
    assert!(said.contains("is only in a drive's cache"), "{said}");
}

#[test]
fn dirty_data_that_give_way_to_a_drives_cache_are_found() {
    let said = verdict(Mutation::UnforcedSuccessor).unwrap();
    assert!(said.contains("is dropped for one in a drive's cache"), "{said}");
}

#[test]
fn a_forced_write_that_a_drive_acknowledges_from_its_cache_is_found() {
    let said = verdict(Mutation::ForceInBuffer).unwrap();
    assert!(said.contains("of its media to a power cut"), "{said}");
}
