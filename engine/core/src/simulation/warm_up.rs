//! Functional warm-up: the caches are filled from the workload's own addresses, without time.

use super::Simulation;
use super::hosts::Source;
use crate::config::WarmUp;
use crate::error::RunError;
use crate::interruption::{Interrupt, POLL_EVENTS};
use crate::read_cache::ReadCache;
use crate::workload::{Op, OperationModel, Synthetic};

/// A source that fills the caches in place of the run's own.
struct Twin {
    /// Index of that source.
    of: usize,
    source: Synthetic,
    /// Whether a line of its requests was cached.
    has_filled: bool,
}

/// Commands drawn, at most, for each line to be filled: repeated addresses fill no line.
const DRAWS_PER_LINE: u64 = 16;

impl Simulation {
    /// Fills the write cache to `run.initial_dirty`, or midway between its water marks, and a read cache that keeps all it
    /// reads to its capacity, as far as the workload's own addresses do. The run goes on from there: a scan from the start
    /// would find its data in the caches.
    ///
    /// # Errors
    /// The run is interrupted.
    pub(super) fn warm_up_functionally(&mut self, interrupt: &dyn Interrupt) -> Result<(), RunError> {
        if self.scenario.run.warm_up != WarmUp::None {
            self.fill_caches(interrupt)?;
            self.record_dirty();
        }
        self.start_phases();
        Ok(())
    }

    fn fill_caches(&mut self, interrupt: &dyn Interrupt) -> Result<(), RunError> {
        let Self { scenario, context, hosts, write_back, reads, .. } = self;
        let (run, lines) = (&scenario.run, reads.lines);
        let mut twins: Vec<_> = hosts
            .sources
            .iter()
            .enumerate()
            .filter_map(|(index, source)| match source {
                Source::Synthetic(source) if source.is_warming_up() => {
                    let name = &scenario.workload.streams[source.stream as usize].name;
                    Some(Twin { of: index, source: source.for_warm_up(run, name), has_filled: false })
                }
                Source::Synthetic(_) | Source::Replay(_) => None,
            })
            .collect();
        let has = |is_wanted: fn(&OperationModel) -> bool| {
            let mut models = twins.iter().flat_map(|twin| &hosts.models[twin.source.models()]);
            models.any(|model| is_wanted(&model.operations))
        };
        let protected = write_back.as_ref().filter(|back| back.may_hold_dirty());
        let target = protected.filter(|_| has(OperationModel::has_writes)).map_or(0, |back| {
            let share = run.initial_dirty.map(|share| (share.0 * f64::from(back.cache.capacity())) as u32);
            share.unwrap_or_else(|| back.marks.middle())
        });
        let keeps_reads =
            reads.cache.as_ref().is_some_and(ReadCache::keeps_all) && has(OperationModel::has_reads);
        let read_lines = reads.cache.as_ref().filter(|_| keeps_reads).map_or(0, ReadCache::capacity);
        // The draws of the twins change nothing of the run's own.
        let models = hosts.models.clone();
        let mut draws = (DRAWS_PER_LINE * (u64::from(target) + read_lines as u64)).min(run.max_events);
        'fill: while !twins.is_empty() {
            for Twin { source, has_filled, .. } in &mut twins {
                let is_write_done = write_back.as_ref().is_none_or(|back| back.cache.used() >= target);
                let is_read_done = !keeps_reads || reads.cache.as_ref().is_none_or(ReadCache::is_full);
                if draws == 0 || (is_write_done && is_read_done) {
                    break 'fill;
                }
                if draws.is_multiple_of(POLL_EVENTS) {
                    interrupt.check().map_err(RunError::Interrupted)?;
                }
                draws -= 1;
                let command = source.command(&models);
                if command.operation == Op::Flush {
                    continue;
                }
                let (start, end) = (command.lba.0, command.lba.0 + command.sectors.0);
                for line in lines.touched(start, command.sectors.0) {
                    if command.operation == Op::Write {
                        let (from, to) = (start.max(lines.start(line)), end.min(lines.start(line + 1)));
                        if let (false, Some(back)) = (is_write_done, &mut *write_back) {
                            if !back.warm_up(context, source.array, from, to - from) {
                                break;
                            }
                            *has_filled = true;
                        }
                        if let Some(cache) = &mut reads.cache {
                            cache.invalidate(source.array, line);
                        }
                    } else if keeps_reads
                        && let Some(cache) = &mut reads.cache
                        && cache.touch(source.array, line).is_none()
                    {
                        cache.insert(source.array, line, None, false);
                        *has_filled = true;
                    }
                }
            }
        }
        let mut has_moved = vec![false; models.len()];
        for twin in twins.iter_mut().filter(|twin| twin.has_filled) {
            if let Source::Synthetic(source) = &mut hosts.sources[twin.of] {
                has_moved[source.follow(&mut twin.source, &models)].fill(true);
            }
        }
        for (index, model) in models.into_iter().enumerate().filter(|(index, _)| has_moved[*index]) {
            hosts.models[index] = model;
        }
        Ok(())
    }
}
