//! The drive's interface beside the media. A sector passes in 0.1 ms and takes 0.2 ms on the interface.

use super::*;

/// A drive on a slow interface, 2.56 MB/s.
fn on_slow_bus(changes: &Value) -> Bench {
    let mut all = json!({"bus_rate": 2_560_000});
    for (key, value) in changes.as_object().unwrap() {
        all[key] = value.clone();
    }
    Bench::new(all)
}

#[test]
fn a_read_is_sent_after_a_share_of_it() {
    // Ten sectors from 2 ms to 3 ms, and 2 ms on the interface: from the first, after half of them, after all.
    for (share, expected) in [(0.0, 4 * MS), (0.5, 4_500_000), (1.0, 5 * MS)] {
        close(on_slow_bus(&json!({"send_after": share})).read(0, 20, 10), expected);
        let mut changes = buffer("off", true);
        changes["send_after"] = json!(share);
        close(on_slow_bus(&changes).read(0, 20, 10), expected);
        // Writes are not sent.
        close(on_slow_bus(&json!({"send_after": share})).write(0, 20, 10), 4 * MS);
    }
}

#[test]
fn a_fast_interface_sends_the_rest_behind_the_head() {
    // 0.05 ms a sector: half of the ten are sent while the others pass.
    let took = |share: f64| Bench::new(json!({"bus_rate": 10_240_000, "send_after": share})).read(0, 20, 10);
    close(took(0.5), 3 * MS);
    close(took(1.0), 3_500_000);
}

#[test]
fn early_data_of_a_write_arrive_while_the_arm_moves() {
    let took = |lba: u64, early: bool| on_slow_bus(&json!({"early_write_data": early})).write(0, lba, 10);
    // Until 2 ms they are there; sectors 20 to 29 pass until 3 ms.
    close(took(20, false), 4 * MS);
    close(took(20, true), 3 * MS);
    // Sectors 0 to 9 pass until 1 ms, before their data have come, and again a turn later.
    close(took(0, false), 2 * MS);
    close(took(0, true), TURN + MS);
    // Reads cannot be sent before they are read.
    close(on_slow_bus(&json!({"early_write_data": true})).read(0, 20, 10), 4 * MS);
    // A write that is forced past the cache is one to the media.
    let mut changes = buffer("off", true);
    changes["early_write_data"] = json!(true);
    close(on_slow_bus(&changes).service(0, 20, 10, true, true), 3 * MS);
}
