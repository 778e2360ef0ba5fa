//! Sequential streams through the buffer stay sequential, whatever waits in the queue.

use super::*;

#[test]
fn queued_sequential_reads_are_as_fast_with_sptf_as_fcfs() {
    // Three cylinders, always `queued` reads of ten sectors at the drive; the read-ahead brings each at the media rate.
    let took = |policy: &str, read_ahead: &str, queued: u64| {
        let mut changes = buffer(read_ahead, false);
        changes["buffer"]["segment"] = json!(200 * 512);
        changes["queue"] = json!({"policy": policy, "depth": 16, "age_limit": null});
        let mut bench = Bench::new(changes);
        let mut submitted = 0..60;
        let mut submit = |bench: &mut Bench| {
            if let Some(index) = submitted.next() {
                bench.submit(10 * index, 10, false, false);
            }
        };
        for _ in 0..queued {
            submit(&mut bench);
        }
        for _ in 0..60 {
            bench.done();
            submit(&mut bench);
        }
        bench.now.0
    };
    for read_ahead in ["segment", "track"] {
        let alone = took("fcfs", read_ahead, 1);
        for queued in [1, 2, 4, 8, 16] {
            let (shortest, in_order) = (took("sptf", read_ahead, queued), took("fcfs", read_ahead, queued));
            assert!(shortest <= in_order, "{read_ahead}, {queued} queued: {shortest} against {in_order}");
            assert!(in_order <= alone);
        }
    }
}

#[test]
fn sequential_reads_reach_the_media_rate_at_any_size() {
    // A track of 100 sectors and the 10 or 20 of its skew take 11 or 12 ms; the segment has room for 50 sectors.
    for sectors in [10, 50, 75, 150] {
        for pause in [0, 50_000, 300_000] {
            let mut bench = Bench::new(buffer("segment", false));
            let count = 600 / u64::from(sectors);
            for index in 0..count {
                let at = bench.now.0 + pause;
                bench.read(at, index * u64::from(sectors), sectors);
            }
            let most = 6 * 12 * MS + count * (pause + 2000) + 2 * TURN;
            assert!(bench.now.0 <= most, "{sectors} sectors, {pause} ns: {} over {most}", bench.now.0);
        }
    }
}

#[test]
fn a_read_ahead_takes_the_pace_of_the_zone_it_reaches() {
    let mut changes = buffer("segment", false);
    changes["geometry"] = json!({"kind": "zones", "surfaces": 2, "zones": [
        {"cylinders": 5, "sectors_per_track": 100, "track_skew": 10, "cylinder_skew": 20},
        {"cylinders": 5, "sectors_per_track": 50, "track_skew": 5, "cylinder_skew": 10}]});
    let mut bench = Bench::new(changes);
    let mut took = Vec::new();
    for chunk in 0..150 {
        let now = bench.now.0;
        took.push(bench.read(now, chunk * 10, 10));
    }
    // A sector takes 0.115 ms in the outer zone of 1,000 sectors, and 0.23 ms in the inner one.
    for (chunks, sector) in [(2..100, 115_000), (102..150, 230_000)] {
        for time in &took[chunks] {
            assert!(time.abs_diff(10 * sector) <= 10, "{time} ns, not ten times {sector}");
        }
    }
}

#[test]
fn buffered_reads_precede_reads_near_the_arm() {
    let mut changes = buffer("segment", false);
    changes["queue"] = json!({"policy": "sptf", "depth": 16, "age_limit": null});
    let mut bench = Bench::new(changes);
    bench.read(0, 0, 10);
    bench.now = SimTime(5 * MS); // sectors 10 to 50 are in
    bench.submit(70, 1, false, false); // takes the arm at once
    for (lba, is_write) in [(72, false), (30, true), (20, false)] {
        bench.submit(lba, 1, is_write, false);
    }
    let order: Vec<_> = (0..4).map(|_| bench.done().lba.0).collect();
    assert_eq!(order, [70, 20, 72, 30]);
}

#[test]
fn queued_sequential_writes_stay_in_sequence() {
    let mut changes = buffer("off", true);
    changes["queue"] = json!({"policy": "sptf", "depth": 16, "age_limit": null});
    let mut bench = Bench::new(changes);
    for index in 0..16 {
        bench.submit(10 * index, 10, true, false);
    }
    let order: Vec<_> = (0..16).map(|_| bench.done().lba.0).collect();
    assert_eq!(order, (0..16).map(|index| 10 * index).collect::<Vec<_>>());
}

#[test]
fn each_extent_of_read_ahead_ends_where_it_says() {
    // Reads sector 130, of the second track of the first cylinder (100 to 199), and then the first sector not read ahead.
    for (extent, last) in
        [("track_end", 199), ("cylinder_end", 199), ("segment", 180), ("segment_on_arrival", 180)]
    {
        let has = |sector: u64| {
            let mut changes = buffer(extent, false);
            let segment = if extent.starts_with("segment") { 50 } else { 150 };
            changes["buffer"]["segment"] = json!(segment * 512);
            let mut bench = Bench::new(changes);
            bench.read(0, 130, 1);
            bench.read(100 * MS, sector, 1) == 1000
        };
        assert!(has(last) && !has(last + 1), "{extent}");
    }
    let on_arrival = |sector: u64| {
        let mut changes = buffer("segment_on_arrival", false);
        changes["buffer"]["segment"] = json!(50 * 512);
        let mut bench = Bench::new(changes);
        // The head is over sector 20 of the first track when it arrives for sector 40.
        let time = bench.read(2 * MS, 40, 1);
        close(time, 2_100_000);
        bench.read(2 * MS + time, sector, 1) == 1000
    };
    assert!(on_arrival(21) && on_arrival(39) && !on_arrival(18));
}

#[test]
fn a_long_stream_keeps_the_pace_of_the_platter() {
    // Sectors whose times are not whole nanoseconds, at 7,200 rpm. Each I/O starts where the last one ended.
    for sectors in [1_u32, 7, 128] {
        let changes = json!({"rpm": 7200.0, "head_switch": 0, "geometry": {"kind": "zones", "surfaces": 1, "zones":
            [{"cylinders": 10, "sectors_per_track": 99_700, "track_skew": 0, "cylinder_skew": 20_000}]}});
        let mut bench = Bench::new(changes);
        let count = 99_000 / u64::from(sectors);
        bench.write(0, 0, sectors);
        let start = bench.now.0;
        for index in 1..count {
            let now = bench.now.0;
            bench.write(now, index * u64::from(sectors), sectors);
        }
        let exact = (count - 1) * u64::from(sectors) * 8_333_333 / 99_700;
        assert!(
            (bench.now.0 - start).abs_diff(exact) < 100,
            "{sectors} sectors: {} ns, not {exact}",
            bench.now.0 - start
        );
    }
}

#[test]
fn only_the_second_read_of_a_stream_is_read_ahead_of() {
    let mut bench = Bench::new(buffer("stream", false));
    close(bench.read(0, 20, 4), 2_400_000);
    // Nothing was read behind the first read: sector 24 comes by at 42.4 ms.
    close(40 * MS + bench.read(40 * MS, 24, 4), 42_800_000);
    // Behind the second it was, and behind each after it.
    assert_eq!(bench.read(60 * MS, 28, 4), 1000);
    assert_eq!(bench.read(80 * MS, 32, 4), 1000);
    // Another stream has a segment of its own, but a read between two streams belongs to none.
    close(100 * MS + bench.read(100 * MS, 150, 4), 106_400_000);
    assert!(bench.read(120 * MS, 154, 4) > 1000);
    assert_eq!(bench.read(140 * MS, 158, 4), 1000);
    assert!(bench.read(160 * MS, 90, 4) > 1000);
    assert!(bench.read(180 * MS, 96, 4) > 1000);
}
