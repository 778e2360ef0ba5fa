use super::*;
use crate::event::{Event, EventQueue};
use crate::rng::Purpose;
use serde_json::{Value, json};

const MS: u64 = 1_000_000;
/// One revolution: 6,000 rpm.
const TURN: u64 = 10 * MS;

/// Two surfaces, ten cylinders of 100 sectors a track, no skew but a turn for each switch: a sector takes 0.1 ms.
fn config(changes: Value) -> config::Disk {
    let mut disk = json!({
        "rpm": 6000.0,
        "geometry": {"kind": "zones", "surfaces": 2, "zones":
            [{"cylinders": 10, "sectors_per_track": 100, "track_skew": 10, "cylinder_skew": 20}]},
        "seek": {"kind": "table", "points": [{"distance": 1, "time": MS}, {"distance": 9, "time": 5 * MS}]},
        "head_switch": MS, "command_time": 0, "synchronised_spindles": true,
    });
    let Value::Object(changes) = changes else { unreachable!("changes are an object") };
    for (key, value) in changes {
        disk[key] = value;
    }
    serde_json::from_value(disk).unwrap()
}

fn buffer(read_ahead: &str, write_cache: bool) -> Value {
    json!({"buffer": {"segments": 2, "segment": 50 * 512, "read_ahead": read_ahead, "hit_time": 1000,
        "write_time": 2000, "write_cache": write_cache}})
}

/// A drive with its events.
struct Bench {
    drive: Drive,
    events: EventQueue,
    now: SimTime,
}

impl Bench {
    fn new(changes: Value) -> Self {
        let config = config(changes);
        let model = Arc::new(DriveModel::new(&config).unwrap());
        let mut stream = RandomStream::named(1, 0, "disk", 0, Purpose::Spindle);
        let drive = Drive::new(model, &config, &mut stream);
        Self { drive, events: EventQueue::new(), now: SimTime::ZERO }
    }

    fn submit(&mut self, lba: u64, sectors: u32, is_write: bool, is_forced: bool) {
        let io =
            Io { lba: Lba(lba), sectors, is_write, is_background: false, is_forced, operation: lba as u32 };
        self.drive.submit(self.now, io, &mut Agenda::new(&mut self.events, 0));
    }

    /// The next I/O that is done.
    fn done(&mut self) -> Io {
        loop {
            let Some((time, Event::Device { slot, .. })) = self.events.next() else {
                panic!("nothing goes on")
            };
            self.now = time;
            if let Some(served) = self.drive.act(time, slot, false, &mut Agenda::new(&mut self.events, 0)) {
                return served.io;
            }
        }
    }

    /// The service time of one I/O that begins at `at` \[ns\].
    fn service(&mut self, at: u64, lba: u64, sectors: u32, is_write: bool, is_forced: bool) -> u64 {
        assert!(at >= self.now.0, "{at} is before {}", self.now.0);
        self.now = SimTime(at);
        self.submit(lba, sectors, is_write, is_forced);
        self.done();
        self.now.0 - at
    }

    fn read(&mut self, at: u64, lba: u64, sectors: u32) -> u64 {
        self.service(at, lba, sectors, false, false)
    }

    fn write(&mut self, at: u64, lba: u64, sectors: u32) -> u64 {
        self.service(at, lba, sectors, true, false)
    }

    fn flush(&mut self, at: u64) -> u64 {
        self.service(at, 0, 0, true, true)
    }

    fn lose_power(&mut self, at: u64) -> Vec<(u64, u64)> {
        let mut lost = Vec::new();
        self.drive.lose_power(SimTime(at), &mut |lba, sectors| lost.push((lba.0, sectors.0)));
        lost
    }
}

/// Within the rounding of angles.
#[track_caller]
fn close(measured: u64, expected: u64) {
    assert!(measured.abs_diff(expected) <= 2 * super::super::ROUNDING.0, "{measured} ns, not {expected} ns");
}

#[test]
fn without_a_buffer_each_read_waits_for_its_sector() {
    let mut bench = Bench::new(json!({}));
    // Sector 20 begins 2 ms after the index mark and takes 0.1 ms.
    close(bench.read(0, 20, 1), 2 * MS + MS / 10);
    // Back for sector 20 at 12 ms: the platter has just passed 2.1 ms.
    close(bench.read(2_100_000, 20, 1), TURN);
}

#[test]
fn prefetched_sectors_are_served_from_the_buffer() {
    let mut bench = Bench::new(buffer("segment", false));
    close(bench.read(0, 20, 1), 2_100_000);
    // Sectors 21 to 70 pass until 7.1 ms; at 8 ms the whole segment is there.
    assert_eq!(bench.read(8 * MS, 30, 4), 1000);
    // What was sent is gone: sector 30 comes by at 23 ms.
    close(bench.read(22 * MS, 30, 4), MS + 4 * MS / 10);
}

#[test]
fn a_read_of_incoming_sectors_waits_for_the_last_one() {
    let mut bench = Bench::new(buffer("segment", false));
    close(bench.read(0, 20, 1), 2_100_000);
    // At 3 ms sectors up to 29 have passed; 30 to 39 have when 40 begins, at 4 ms (a sector takes 0.1 ms and its share of
    // the switches, 0.015 ms: from 2.1 ms on, 19 sectors take 2.185 ms).
    close(3 * MS + bench.read(3 * MS, 30, 10), 2_100_000 + 19 * 115_000);
}

#[test]
fn a_sequential_stream_reaches_the_media_rate() {
    let mut bench = Bench::new(buffer("segment", false));
    let begin = bench.read(0, 0, 10);
    for chunk in 1..100 {
        let now = bench.now.0;
        bench.read(now, chunk * 10, 10);
    }
    // 990 sectors; a cylinder of 200 passes in 230 sector times.
    let expected = begin + 990 * TURN * 115 / 100 / 100;
    assert!(bench.now.0.abs_diff(expected) < TURN / 5, "{} for {expected}", bench.now.0);
}

#[test]
fn a_track_buffer_holds_the_whole_track_after_a_turn() {
    let mut bench = Bench::new(json!({"buffer": {"segments": 2, "segment": 100 * 512, "read_ahead": "track",
        "hit_time": 1000}}));
    close(bench.read(0, 50, 1), 5_100_000);
    // Sectors 0 to 49 passed on the way; those behind 50 are in after a turn.
    assert_eq!(bench.read(11 * MS, 10, 5), 1000);
    assert_eq!(bench.read(12 * MS, 95, 5), 1000);
    assert_eq!(bench.read(13 * MS, 0, 100), 1000);
    assert!(bench.read(14 * MS, 100, 1) > 1000, "the next track is not there");
}

#[test]
fn a_track_is_read_in_one_turn_from_any_sector() {
    let mut bench =
        Bench::new(json!({"buffer": {"segments": 2, "segment": 100 * 512, "read_ahead": "track"}}));
    // The whole track from its middle on: one turn, not one and a half.
    close(bench.read(5 * MS, 0, 100), TURN);
}

#[test]
fn cached_writes_reach_the_media_with_a_flush() {
    let mut bench = Bench::new(buffer("segment", true));
    assert_eq!(bench.write(0, 40, 10), 2000);
    // It goes to sector 40 at 4 ms, until 5 ms.
    close(1_000_000 + bench.flush(1_000_000), 5 * MS);
    assert_eq!(bench.flush(6 * MS), 0, "there is nothing to flush");
    assert_eq!(bench.lose_power(7 * MS), []);
}

#[test]
fn reads_see_cached_writes() {
    let mut bench = Bench::new(buffer("segment", true));
    assert_eq!(bench.write(0, 40, 10), 2000);
    assert_eq!(bench.read(3000, 42, 4), 1000);
    // Partly there: the rest is read from the media once the older part is on them.
    let partly = bench.read(8000, 45, 10);
    assert!(partly > 5 * MS, "{partly}");
}

#[test]
fn a_power_cut_loses_cached_writes() {
    let mut bench = Bench::new(buffer("segment", true));
    bench.write(0, 40, 10);
    assert_eq!(bench.lose_power(3000), [(40, 10)]);
    let mut bench = Bench::new(buffer("segment", true));
    bench.write(0, 40, 10);
    bench.write(4_500_000, 150, 5);
    // At 4.7 ms sector 47 passes, and the second write waits.
    assert_eq!(bench.lose_power(4_700_000), [(40, 10), (150, 5)]);
}

#[test]
fn a_power_cut_loses_writes_not_yet_flushed() {
    let cut = |at: u64| {
        let mut bench = Bench::new(buffer("segment", true));
        bench.write(0, 40, 10);
        bench.write(3000, 60, 10);
        bench.submit(0, 0, true, true);
        bench.lose_power(at)
    };
    // The sectors 40 to 49 pass from 4 to 5 ms, 60 to 69 from 6 to 7 ms.
    assert_eq!(cut(4_500_000), [(40, 10), (60, 10)]);
    assert_eq!(cut(5_500_000), [(60, 10)]);
    assert_eq!(cut(7_100_000), []);
}

#[test]
fn a_power_cut_keeps_writes_of_an_idle_drive() {
    let mut bench = Bench::new(buffer("segment", true));
    bench.write(0, 40, 10);
    assert_eq!(bench.lose_power(6 * MS), []);
}

#[test]
fn a_sector_is_dirty_in_one_segment_only() {
    let mut changes = buffer("segment", true);
    changes["buffer"]["segments"] = json!(4);
    let mut bench = Bench::new(changes);
    // The first keeps the arm busy.
    for (at, lba) in [(0, 500), (3000, 50), (6000, 40), (9000, 50)] {
        bench.write(at, lba, 10);
    }
    assert_eq!(bench.lose_power(12_000), [(500, 10), (50, 10), (40, 10)]);
}

#[test]
fn a_buffer_without_effect_equals_none() {
    let mut with = Bench::new(buffer("off", false));
    let mut without = Bench::new(json!({}));
    let mut stream = RandomStream::named(1, 0, "", 0, Purpose::Service);
    for _ in 0..500 {
        let (lba, gap) = (stream.below(1900), stream.below(3 * TURN));
        let (sectors, is_write) = (1 + stream.below(60) as u32, stream.below(2) == 0);
        let at = with.now.0 + gap;
        assert_eq!(
            with.service(at, lba, sectors, is_write, false),
            without.service(at, lba, sectors, is_write, false)
        );
    }
}

#[test]
fn a_flush_is_no_write() {
    let mut bench = Bench::new(buffer("segment", true));
    bench.write(0, 40, 10);
    bench.flush(MS);
    assert_eq!((bench.drive.usage.writes, bench.drive.usage.reads), (1, 0));
}

#[test]
fn forced_and_uncached_writes_reach_the_media() {
    let mut bench = Bench::new(buffer("segment", true));
    close(bench.service(0, 40, 10, true, true), 5 * MS);
    assert_eq!(bench.lose_power(5 * MS), []);
    let mut bench = Bench::new(buffer("segment", false));
    close(bench.write(0, 40, 10), 5 * MS);
}

#[test]
fn writes_wait_if_all_segments_are_dirty() {
    let mut bench = Bench::new(buffer("segment", true));
    assert_eq!(bench.write(0, 40, 1), 2000);
    assert_eq!(bench.write(10_000, 400, 1), 2000);
    // Both segments are dirty: the third waits until the first is on the media, at 4.1 ms.
    close(20_000 + bench.write(20_000, 800, 1), 4_100_000);
    // Writes that continue one another share a segment, but for the first, which is on its way.
    let mut bench = Bench::new(buffer("segment", true));
    for turn in 0..20 {
        assert_eq!(bench.write(turn * 10_000, 40 + turn, 1), 2000);
    }
    assert_eq!(bench.lose_power(200_000), [(40, 1), (41, 19)]);
}

#[test]
fn a_read_settles_after_a_write_and_on_another_surface() {
    let mut bench = Bench::new(json!({"read_settle": 2 * MS, "head_switch": MS, "write_settle": MS / 2}));
    bench.read(0, 20, 1);
    // On another surface: 2 ms rather than 1, so sector 105, 0.5 ms + 1 ms skew after the index mark, is just missed.
    close(bench.read(10 * MS, 105, 1), TURN + 1_500_000 + MS / 10);
    // A read on the same track after a write settles for 2 ms.
    let mut bench = Bench::new(json!({"read_settle": 2 * MS, "write_settle": MS / 2}));
    close(bench.write(0, 10, 1), 1_100_000);
    close(bench.read(TURN, 10, 1), TURN + 1_100_000);
    close(bench.read(3 * TURN, 10, 1), 1_100_000);
}

#[test]
fn models_are_shared_by_equal_configurations() {
    let kind = |milliseconds: u64| config(json!({"head_switch": milliseconds * MS}));
    for round in 0..2 {
        for milliseconds in 1..=2 * KEPT as u64 {
            let disk = kind(milliseconds);
            let model = DriveModel::shared(&disk).unwrap();
            assert_eq!(model.head_switch, milliseconds * MS, "round {round}");
            assert!(Arc::ptr_eq(&model, &DriveModel::shared(&disk.clone()).unwrap()));
            assert_eq!(format!("{model:?}"), format!("{:?}", DriveModel::new(&disk).unwrap()));
        }
    }
    let unsound = config(json!({"seek": {"kind": "table", "points": [{"distance": 1, "time": MS}]}}));
    for _ in 0..2 {
        assert!(DriveModel::shared(&unsound).is_err());
    }
}

mod interface;
mod order;
mod read_ahead;
mod write_settle;

mod laws {
    use proptest::prelude::*;

    use super::*;

    fn any_buffer() -> impl Strategy<Value = Value> {
        prop_oneof![
            Just(json!({})),
            Just(buffer("segment", false)),
            Just(buffer("segment", true)),
            Just(buffer("track", true)),
            Just(buffer("off", true)),
            Just(buffer("stream", true)),
            Just(json!({"bus_rate": 4_096_000, "send_after": 0.5, "early_write_data": true})),
        ]
    }

    proptest! {
        /// Whatever goes before: an I/O from the media takes at least its media time, one from the buffer ends, and
        /// after a flush the power takes nothing.
        #[test]
        fn service_ends_and_flushed_data_stay(
            changes in any_buffer(),
            ios in prop::collection::vec((0..1900_u64, 1..60_u32, any::<bool>(), any::<bool>(), 0..20 * MS), 1..60),
        ) {
            let is_plain = changes == json!({});
            let mut bench = Bench::new(changes);
            for (lba, sectors, is_write, is_forced, gap) in ios {
                let at = bench.now.0 + gap;
                let took = bench.service(at, lba, sectors, is_write, is_forced);
                let media = u64::from(sectors) * TURN / 100;
                if is_plain || (is_write && is_forced) {
                    prop_assert!(took + 200 >= media, "{took} for {media}");
                }
                // Two dirty segments, a seek and a turn for each, and the I/O itself with all its switches.
                prop_assert!(took < 12 * TURN, "{took}");
            }
            let now = bench.now.0;
            bench.flush(now);
            let now = bench.now.0;
            prop_assert_eq!(bench.lose_power(now), []);
        }
    }
}
