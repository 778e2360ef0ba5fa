//! What the caches served.

use super::RunView;
use super::run_view::ratio;
use crate::read_cache::{AheadCounts, ReadCache};

columns! {
    /// fraction of requests that hit: reads served by the cache alone, writes that overwrote only dirty lines
    hit_ratio, "fraction", Float(|run| {
        let counts = &run.counts();
        ratio(counts.read_hits + counts.write_hits, counts.reads + counts.writes)
    });
    /// fraction of reads served by the cache alone
    read_hit_ratio, "fraction", Float(|run| ratio(run.counts().read_hits, run.counts().reads));
    /// fraction of writes that overwrote only dirty lines, and so needed no additional destage
    write_hit_ratio, "fraction", Float(|run| ratio(run.counts().write_hits, run.counts().writes));
    /// fraction of reads served by the cache alone, from data read ahead
    read_ahead_hit_ratio, "fraction", Float(|run| ratio(run.counts().read_ahead_hits, run.counts().reads));
    /// reads served by the cache alone, from dirty lines and without data read ahead
    read_hits_dirty, "count", Count(|run| run.counts().read_hits_dirty);
    /// reads served by the cache alone, from destaged lines and without dirty data or data read ahead
    read_hits_clean, "count", Count(|run| run.counts().read_hits_clean);
    /// reads that waited for a fetch in flight
    read_hits_late, "count", Count(|run| run.counts().read_hits_late);
    /// reads that missed outside any sequence
    read_misses_random, "count", Count(|run| run.counts().read_misses_random);
    /// reads that missed within a sequence: before read-ahead started, or beyond it
    read_misses_sequential, "count", Count(|run| run.counts().read_misses_sequential);
    /// lines read ahead
    read_ahead_lines, "count", Count(|run| read_ahead(run).fetched);
    /// lines read ahead and then requested
    read_ahead_used_lines, "count", Count(|run| read_ahead(run).used);
    /// lines read ahead and then evicted or overwritten before any read requested them
    read_ahead_wasted_lines, "count", Count(|run| read_ahead(run).wasted);
}

fn read_ahead(run: &RunView<'_>) -> AheadCounts {
    run.reads.cache.as_ref().map(ReadCache::counts).unwrap_or_default()
}
