//! Functional warm-up: the caches are filled from the workload's own addresses, without time.

use super::hosts::Source;
use super::{Protection, Simulation};
use crate::config::WarmUp;
use crate::workload::Op;
use crate::write_cache::{Accepted, mask};

/// Commands drawn, at most, for each line to be filled: addresses that repeat fill no line.
const DRAWS_PER_LINE: u64 = 16;

impl Simulation {
    /// Fills the write cache to midway between its water marks, and a read cache that keeps all it reads to the brim,
    /// or as far as the workload's own addresses do.
    pub(super) fn warm_up_functionally(&mut self) {
        if self.scenario.run.warm_up == WarmUp::None {
            self.start_conduct();
            return;
        }
        let target = self
            .write_back
            .as_ref()
            .filter(|back| back.protection != Protection::None)
            .map_or(0, |back| back.warm_level);
        let keeps_reads = self.read_cache.as_ref().is_some_and(crate::read_cache::ReadCache::keeps_all);
        let read_lines = self
            .read_cache
            .as_ref()
            .filter(|_| keeps_reads)
            .map_or(0, crate::read_cache::ReadCache::capacity);
        let run = self.scenario.run.clone();
        let mut twins: Vec<_> = self
            .sources
            .iter()
            .filter_map(|source| match source {
                Source::Synthetic(source) if source.is_warming_up() => {
                    let name = &self.scenario.workload.streams[source.stream as usize].name;
                    Some(source.for_warm_up(&run, name))
                }
                Source::Synthetic(_) | Source::Replay(_) => None,
            })
            .collect();
        // What it draws moves nothing of the run's own.
        let models = self.models.clone();
        let mut draws = (DRAWS_PER_LINE * (u64::from(target) + read_lines as u64)).min(run.max_events);
        'filling: while !twins.is_empty() {
            for twin in &mut twins {
                let is_write_done = self.write_back.as_ref().is_none_or(|back| back.cache.used() >= target);
                let is_read_done = !keeps_reads
                    || self.read_cache.as_ref().is_none_or(crate::read_cache::ReadCache::is_full);
                if draws == 0 || (is_write_done && is_read_done) {
                    break 'filling;
                }
                draws -= 1;
                let command = twin.command(&models);
                if command.operation == Op::Flush {
                    continue;
                }
                let (start, end) = (command.lba.0, command.lba.0 + command.sectors.0);
                for line in start / self.line_sectors..=(end - 1) / self.line_sectors {
                    let base = line * self.line_sectors;
                    let (from, to) = (start.max(base), end.min(base + self.line_sectors));
                    if command.operation == Op::Write {
                        if let (false, Some(back)) = (is_write_done, &mut self.write_back) {
                            let mask = mask(from - base, to - from);
                            if back.cache.accept(self.now, twin.array, line, mask, true) == Accepted::Full {
                                break;
                            }
                            self.probe.watch(|oracle| oracle.accept(None, twin.array, from, to - from, true));
                        }
                        if let Some(cache) = &mut self.read_cache {
                            cache.invalidate(twin.array, line);
                        }
                    } else if keeps_reads
                        && let Some(cache) = &mut self.read_cache
                        && cache.touch(twin.array, line).is_none()
                    {
                        cache.insert(twin.array, line, None, false);
                    }
                }
            }
        }
        self.note_dirty();
        self.start_conduct();
    }
}
