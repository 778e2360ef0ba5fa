//! What the caches served.

use super::column::{
    Reader::{Count, Float},
    column,
};
use super::run_view::ratio;
use super::{Column, RunView};
use crate::read_cache::{AheadCounts, ReadCache};

pub(super) const COLUMNS: &[Column] = &[
    column(
        "hit_ratio",
        "fraction",
        "fraction of requests that hit: reads served by the cache alone, writes that overwrote only dirty lines",
        Float(|run| {
            let counts = &run.context.measures.counts;
            ratio(counts.read_hits + counts.write_hits, counts.reads + counts.writes)
        }),
    ),
    column(
        "read_hit_ratio",
        "fraction",
        "fraction of reads served by the cache alone",
        Float(|run| ratio(run.context.measures.counts.read_hits, run.context.measures.counts.reads)),
    ),
    column(
        "write_hit_ratio",
        "fraction",
        "fraction of writes that overwrote only dirty lines, and so needed no additional destage",
        Float(|run| ratio(run.context.measures.counts.write_hits, run.context.measures.counts.writes)),
    ),
    column(
        "read_ahead_hit_ratio",
        "fraction",
        "fraction of reads served by the cache alone, from data read ahead",
        Float(|run| ratio(run.context.measures.counts.read_ahead_hits, run.context.measures.counts.reads)),
    ),
    column(
        "read_hits_dirty",
        "count",
        "reads served by the cache alone, from dirty lines and without data read ahead",
        Count(|run| run.context.measures.counts.read_hits_dirty),
    ),
    column(
        "read_hits_clean",
        "count",
        "reads served by the cache alone, from destaged lines and without dirty data or data read ahead",
        Count(|run| run.context.measures.counts.read_hits_clean),
    ),
    column(
        "read_hits_late",
        "count",
        "reads that waited for a fetch in flight",
        Count(|run| run.context.measures.counts.read_hits_late),
    ),
    column(
        "read_misses_random",
        "count",
        "reads that missed outside any sequence",
        Count(|run| run.context.measures.counts.read_misses_random),
    ),
    column(
        "read_misses_sequential",
        "count",
        "reads that missed within a sequence: before read-ahead started, or beyond it",
        Count(|run| run.context.measures.counts.read_misses_sequential),
    ),
    column("read_ahead_lines", "count", "lines read ahead", Count(|run| read_ahead(run).fetched)),
    column(
        "read_ahead_used_lines",
        "count",
        "lines read ahead and then requested",
        Count(|run| read_ahead(run).used),
    ),
    column(
        "read_ahead_wasted_lines",
        "count",
        "lines read ahead and then evicted or overwritten before any read requested them",
        Count(|run| read_ahead(run).wasted),
    ),
];

fn read_ahead(run: &RunView<'_>) -> AheadCounts {
    run.reads.cache.as_ref().map(ReadCache::counts).unwrap_or_default()
}
