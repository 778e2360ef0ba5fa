//! What the caches served.

use super::super::Simulation;
use super::super::outcome::ColumnSink;
use super::{float, int, ratio};
use crate::read_cache::ReadCache;

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
            let counts = &run.context.measures.counts;
            ratio(counts.read_hits + counts.write_hits, counts.reads + counts.writes)
        },
    );
    float(sink, run, ("read_hit_ratio", r, "reads served by the cache alone"), |run| {
        ratio(run.context.measures.counts.read_hits, run.context.measures.counts.reads)
    });
    float(
        sink,
        run,
        ("write_hit_ratio", r, "writes that overwrote dirty lines only, and cost no further destage"),
        |run| ratio(run.context.measures.counts.write_hits, run.context.measures.counts.writes),
    );
    float(
        sink,
        run,
        ("read_ahead_hit_ratio", r, "reads served by the cache alone, from data read ahead"),
        |run| ratio(run.context.measures.counts.read_ahead_hits, run.context.measures.counts.reads),
    );
    int(
        sink,
        run,
        (
            "read_hits_dirty",
            c,
            "reads served by the cache alone, with data of dirty lines and none read ahead",
        ),
        |run| run.context.measures.counts.read_hits_dirty,
    );
    int(
        sink,
        run,
        (
            "read_hits_clean",
            c,
            "reads served by the cache alone, with destaged data of the write cache and none dirty or read ahead",
        ),
        |run| run.context.measures.counts.read_hits_clean,
    );
    int(sink, run, ("read_hits_late", c, "reads that waited for a fetch already under way"), |run| {
        run.context.measures.counts.read_hits_late
    });
    int(sink, run, ("read_misses_random", c, "reads that missed and continued no sequence"), |run| {
        run.context.measures.counts.read_misses_random
    });
    int(
        sink,
        run,
        (
            "read_misses_sequential",
            c,
            "reads that missed within a sequence: before read-ahead started, or beyond it",
        ),
        |run| run.context.measures.counts.read_misses_sequential,
    );
    let ahead = |run: &Simulation| run.reads.cache.as_ref().map(ReadCache::counts).unwrap_or_default();
    int(sink, run, ("read_ahead_lines", c, "lines that were read ahead"), |run| ahead(run).fetched);
    int(sink, run, ("read_ahead_used_lines", c, "lines read ahead that a read then asked for"), |run| {
        ahead(run).used
    });
    int(
        sink,
        run,
        (
            "read_ahead_wasted_lines",
            c,
            "lines read ahead that left the cache, or whose data changed, before any read asked for them",
        ),
        |run| ahead(run).wasted,
    );
}
