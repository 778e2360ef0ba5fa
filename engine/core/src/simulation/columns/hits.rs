//! What the caches served.

use super::super::Simulation;
use super::super::outcome::ColumnSink;
use super::{float, int, ratio};

pub(super) fn put_hits(run: Option<&Simulation>, sink: &mut impl ColumnSink) {
    let (r, c) = ("fraction", "count");
    float(
        sink,
        run,
        (
            "hit_ratio",
            r,
            "reads served by the cache alone and writes that overwrote dirty lines only, of all",
        ),
        |run| {
            let counts = &run.measures.counts;
            ratio(counts.read_hits + counts.write_hits, counts.reads + counts.writes)
        },
    );
    float(sink, run, ("read_hit_ratio", r, "reads served by the cache alone"), |run| {
        ratio(run.measures.counts.read_hits, run.measures.counts.reads)
    });
    float(
        sink,
        run,
        ("write_hit_ratio", r, "writes that overwrote dirty lines only, and cost no further destage"),
        |run| ratio(run.measures.counts.write_hits, run.measures.counts.writes),
    );
    float(
        sink,
        run,
        ("read_ahead_hit_ratio", r, "reads served by the cache alone, from data read ahead"),
        |run| ratio(run.measures.counts.read_ahead_hits, run.measures.counts.reads),
    );
    int(sink, run, ("read_hits_late", c, "reads that waited for a fetch already under way"), |run| {
        run.measures.counts.read_hits_late
    });
    int(sink, run, ("read_misses_random", c, "reads that missed and continued no sequence"), |run| {
        run.measures.counts.read_misses_random
    });
    int(
        sink,
        run,
        (
            "read_misses_sequential",
            c,
            "reads that missed within a sequence: before read-ahead started, or beyond it",
        ),
        |run| run.measures.counts.read_misses_sequential,
    );
}
