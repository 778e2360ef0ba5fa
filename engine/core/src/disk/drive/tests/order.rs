//! In which order the I/Os at a drive are served.

use super::*;

#[test]
fn look_turns_if_nothing_is_ahead() {
    let order = |policy: &str| {
        let mut bench = Bench::new(json!({"queue": {"policy": policy, "depth": 16, "age_limit": null}}));
        for lba in [1000, 1500, 100, 900, 1900, 1200, 600] {
            bench.submit(lba, 1, false, false);
        }
        (0..7).map(|_| bench.done().lba.0).collect::<Vec<_>>()
    };
    assert_eq!(order("look"), [1000, 1200, 1500, 1900, 900, 600, 100]);
    assert_eq!(order("c_look"), [1000, 1200, 1500, 1900, 100, 600, 900]);
    assert_eq!(order("fcfs"), [1000, 1500, 100, 900, 1900, 1200, 600]);
}

#[test]
fn a_younger_io_is_preferred_if_it_is_nearer_by_more_than_a_near_tie() {
    // After sector 9, sector 40 comes in 3 ms, and sector 120 on the other surface in 2 ms.
    let order = |near_tie: f64, waiting: [u64; 2]| {
        let queue = json!({"policy": "sptf", "depth": 16, "age_limit": null, "near_tie_fraction": near_tie});
        let mut bench = Bench::new(json!({"queue": queue}));
        bench.submit(0, 10, false, false);
        // A far one between them, so that neither goes on from the other.
        for lba in [waiting[0], 1900, waiting[1]] {
            bench.submit(lba, 10, false, false);
        }
        [0, 1, 2].map(|_| bench.done().lba.0)
    };
    assert_eq!(order(0.05, [40, 120]), [0, 120, 40]);
    assert_eq!(order(0.15, [40, 120]), [0, 40, 120]);
    assert_eq!(order(0.15, [120, 40]), [0, 120, 40]);
}

#[test]
fn a_run_of_waiting_reads_is_served_from_its_start() {
    let order = |reads: &[u64]| {
        let queue = json!({"policy": "sptf", "depth": 16, "age_limit": null, "near_tie_fraction": 0});
        let mut bench = Bench::new(json!({"queue": queue}));
        bench.submit(0, 10, false, false);
        for &lba in reads {
            bench.submit(lba, 10, false, false);
        }
        (0..=reads.len()).map(|_| bench.done().lba.0).collect::<Vec<_>>()
    };
    // The head is behind sector 9: sector 4 comes in almost a turn, 14 at once.
    assert_eq!(order(&[4, 14, 24]), [0, 4, 14, 24]);
    // With gaps of less than a track too.
    assert_eq!(order(&[4, 34, 104]), [0, 4, 34, 104]);
    // Reads that are not in order are not a run.
    assert_eq!(order(&[14, 4, 24]), [0, 14, 4, 24]);
    assert_eq!(order(&[24, 4]), [0, 24, 4]);
}

#[test]
fn a_drive_chooses_among_a_share_of_the_oldest() {
    let order = |choice: f64| {
        let queue = json!({"policy": "sptf", "depth": 16, "age_limit": null, "choice_fraction": choice});
        let mut bench = Bench::new(json!({"queue": queue}));
        for lba in [0, 60, 30, 90, 15] {
            bench.submit(lba, 1, false, false);
        }
        [0; 5].map(|_| bench.done().lba.0)
    };
    assert_eq!(order(1.0), [0, 15, 30, 60, 90]);
    // Two of four and of three, one of two.
    assert_eq!(order(0.5), [0, 30, 60, 90, 15]);
    assert_eq!(order(0.25), [0, 60, 30, 90, 15]);
    assert_eq!(order(0.0), [0, 60, 30, 90, 15]);
}

#[test]
fn an_io_is_overdue_after_its_age_and_four_windows_of_others() {
    // The arm goes to and fro between sectors 0 and 10, a turn for both, while 1900 waits at the far end for the nearest.
    let served_before_the_far_one = |age_limit: u64, depth: u64| {
        let queue = json!({"policy": "sstf", "depth": depth, "age_limit": age_limit});
        let mut bench = Bench::new(json!({"queue": queue}));
        bench.submit(0, 1, false, false);
        bench.submit(1900, 1, false, false);
        for near in (0..1000).map(|i| if i % 2 == 0 { 10 } else { 0 }) {
            bench.submit(near, 1, false, false);
        }
        (0..1000).position(|_| bench.done().lba.0 == 1900).unwrap()
    };
    // A turn serves two. The first one was served before 1900 was there to wait, the second is chosen when it is done.
    assert_eq!(served_before_the_far_one(50 * TURN, 4), 1 + 2 * 50);
    // Young or hardly preferred, it waits: four windows of others come first, whatever the age.
    assert_eq!(served_before_the_far_one(0, 4), 1 + 4 * 4);
    assert_eq!(served_before_the_far_one(0, 8), 1 + 4 * 8);
}

#[test]
fn age_counts_from_entry_into_the_window() {
    // One sector is served again and again; 1900 enters the window of two only when it is full no more.
    let mut bench = Bench::new(json!({"queue": {"policy": "sstf", "depth": 2, "age_limit": 20 * TURN}}));
    for _ in 0..100 {
        bench.submit(0, 1, false, false);
    }
    bench.submit(1900, 1, false, false);
    for _ in 0..100 {
        bench.submit(0, 1, false, false);
    }
    // It arrives with one in service and 99 waiting, enters when 98 are done and the 99th begins, and starves for 20 turns.
    assert_eq!((0..200).position(|_| bench.done().lba.0 == 1900), Some(98 + 20));
}
