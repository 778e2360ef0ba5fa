//! Settling before writes. A sector takes 0.1 ms, a turn 10 ms; sector 102 is on the other surface and sector 282 on the
//! next cylinder, both 1.2 ms after the index mark; a head switch or a seek over one cylinder takes 1 ms.

use proptest::prelude::*;

use super::*;

fn settling() -> Bench {
    Bench::new(json!({"write_settle": MS / 2}))
}

#[test]
fn a_write_settles_after_a_seek_or_a_head_switch() {
    for lba in [102, 282] {
        close(settling().read(0, lba, 1), 1_300_000);
        // It settles until 1.5 ms, and the sector has passed.
        close(settling().write(0, lba, 1), TURN + 1_300_000);
    }
}

#[test]
fn a_write_on_the_same_track_does_not_settle() {
    let mut bench = settling();
    close(bench.write(0, 10, 1), 1_100_000);
    let now = bench.now.0;
    close(bench.write(now, 13, 1), 300_000);
    // Nor does one after a read.
    let mut bench = settling();
    bench.read(0, 10, 1);
    let now = bench.now.0;
    close(bench.write(now, 13, 1), 300_000);
}

#[test]
fn every_write_pays_the_write_overhead() {
    let mut bench = Bench::new(json!({"write_overhead": MS / 2}));
    close(bench.write(0, 10, 1), 1_100_000);
    // The head is over sector 16 before the write may begin.
    let now = bench.now.0;
    close(bench.write(now, 13, 1), TURN + 200_000 + MS / 10);
    let now = bench.now.0;
    close(bench.read(now, 16, 1), 300_000);
    // It adds to a seek: 1 ms and 0.5 ms.
    let mut bench = Bench::new(json!({"write_overhead": MS / 2}));
    close(bench.write(0, 282, 1), TURN + 1_300_000);
}

proptest! {
    /// The skews that cover the switches within a write cover those between two that are adjacent. They are served in
    /// order: another policy may take the last sectors while it waits for the first, and ends earlier.
    #[test]
    fn adjacent_writes_take_as_long_as_one(
        first in 0..1500_u64,
        lengths in prop::collection::vec(1..150_u32, 1..8),
        settle in 0..3 * MS,
    ) {
        let total: u32 = lengths.iter().sum();
        prop_assume!(first + u64::from(total) <= 2000);
        let queue = json!({"policy": "fcfs", "depth": 16, "age_limit": null});
        let bench = || Bench::new(json!({"write_settle": settle, "queue": queue}));
        let one = bench().write(0, first, total);
        let mut bench = bench();
        let mut next = first;
        for length in &lengths {
            bench.submit(next, *length, true, false);
            next += u64::from(*length);
        }
        for _ in &lengths {
            bench.done();
        }
        let rounding = 2 * super::super::super::ROUNDING.0 * lengths.len() as u64;
        prop_assert!(bench.now.0.abs_diff(one) <= rounding, "{} and {one}", bench.now.0);
    }
}
