//! Mutations in random runs: the oracle detects each of them.

use std::panic::{AssertUnwindSafe, catch_unwind};

use proptest::strategy::{Strategy as _, ValueTree as _};
use proptest::test_runner::TestRunner;

use super::runs::{build, run};
use super::scenarios::scenario;
use crate::disk::Device;
use crate::mutation::Mutation;

/// The oracle's message for the first of 300 random runs with `mutation` that it stops.
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
    let message = verdict(Mutation::ForgottenExtent).unwrap();
    assert!(message.contains("dirty sectors"), "{message}");
}

#[test]
fn a_second_version_that_is_lost_is_found() {
    let message = verdict(Mutation::LostSecondVersion).unwrap();
    assert!(message.contains("dirty sectors") || message.contains("gives version"), "{message}");
}

#[test]
fn stale_dirty_data_after_a_bypassing_write_is_found() {
    let message = verdict(Mutation::StaleDirty).unwrap();
    assert!(message.contains("goes back from version") || message.contains("gives version"), "{message}");
}

#[test]
fn newer_dirty_data_that_a_bypassing_write_drops_is_found() {
    let message = verdict(Mutation::GreedyClaim).unwrap();
    assert!(message.contains("is dropped for an older version"), "{message}");
}

#[test]
fn a_stripe_that_loses_a_sector_at_the_age_limit_is_found() {
    let message = verdict(Mutation::LostWithAge).unwrap();
    assert!(message.contains("dirty sectors") || message.contains("gives version"), "{message}");
}

#[test]
fn a_clean_line_older_than_the_media_is_found() {
    let message = verdict(Mutation::StaleClean).unwrap();
    assert!(message.contains("a read of sector"), "{message}");
}

#[test]
fn a_stale_fetch_that_becomes_valid_is_found() {
    let message = verdict(Mutation::StaleFetch).unwrap();
    assert!(message.contains("a read of sector"), "{message}");
}

#[test]
fn writes_that_overlap_on_the_disks_are_found() {
    let message = verdict(Mutation::OverlappingWrites).unwrap();
    assert!(message.contains("two writes of sector"), "{message}");
}

#[test]
fn a_write_that_is_acknowledged_too_early_is_found() {
    let message = verdict(Mutation::EarlyAcknowledgement).unwrap();
    assert!(message.contains("another number taken"), "{message}");
}

#[test]
fn a_flush_that_does_not_wait_for_the_drain_is_found() {
    let message = verdict(Mutation::FlushOverDirty).unwrap();
    assert!(message.contains("a flush is acknowledged over"), "{message}");
}

#[test]
fn a_stalled_write_left_in_a_draining_cache_is_found() {
    let message = verdict(Mutation::StalledInParts).unwrap();
    assert!(message.contains("another number taken") || message.contains("not on the media"), "{message}");
}

#[test]
fn a_power_cut_that_forgets_destages_is_found() {
    let message = verdict(Mutation::CutForgetsDestages).unwrap();
    assert!(message.contains("the write cache counts"), "{message}");
}

#[test]
fn data_lost_while_the_battery_holds_is_found() {
    let message = verdict(Mutation::EarlyLoss).unwrap();
    assert!(message.contains("are lost although the battery holds them"), "{message}");
}

#[test]
fn a_write_that_leaves_out_the_new_disk_is_found() {
    let message = verdict(Mutation::ForgottenNewDisk).unwrap();
    assert!(message.contains("not match its data") || message.contains("version"), "{message}");
}

#[test]
fn a_degraded_write_that_leaves_out_the_parity_is_found() {
    let message = verdict(Mutation::ForgottenParity).unwrap();
    assert!(message.contains("not match its data") || message.contains("version"), "{message}");
}

#[test]
fn a_decoding_read_among_writes_is_found() {
    let message = verdict(Mutation::UnlockedReconstruction).unwrap();
    assert!(message.contains("a disk read of sector"), "{message}");
}

#[test]
fn a_rebuild_among_writes_is_found() {
    let message = verdict(Mutation::UnlockedRebuild).unwrap();
    assert!(message.contains("version") || message.contains("not match its data"), "{message}");
}

#[test]
fn an_operation_that_ignores_a_failed_disk_is_found() {
    let message = verdict(Mutation::IgnoredFailure).unwrap();
    assert!(message.contains("cannot be") || message.contains("were not read"), "{message}");
}

#[test]
fn a_plan_from_before_a_failure_is_found() {
    let message = verdict(Mutation::OutdatedPlan).unwrap();
    assert!(
        message.contains("cannot be") || message.contains("were not read") || message.contains("version"),
        "{message}"
    );
}

#[test]
fn a_flush_that_does_not_reach_the_drives_is_found() {
    let message = verdict(Mutation::UnflushedDrives).unwrap();
    assert!(message.contains("is only in the drive's cache"), "{message}");
}

#[test]
fn a_destage_that_is_not_forced_is_found() {
    let message = verdict(Mutation::UnforcedDestage).unwrap();
    assert!(message.contains("is only in a drive's cache"), "{message}");
}

#[test]
fn a_rebuild_that_is_not_forced_is_found() {
    let message = verdict(Mutation::UnforcedRebuild).unwrap();
    assert!(message.contains("is only in a drive's cache"), "{message}");
}

#[test]
fn dirty_data_replaced_by_data_in_a_drive_cache_is_found() {
    let message = verdict(Mutation::UnforcedSuccessor).unwrap();
    assert!(message.contains("is dropped for one in a drive's cache"), "{message}");
}

#[test]
fn a_forced_write_acknowledged_from_a_drive_cache_is_found() {
    let message = verdict(Mutation::ForceInBuffer).unwrap();
    assert!(message.contains("of its media to a power cut"), "{message}");
}
