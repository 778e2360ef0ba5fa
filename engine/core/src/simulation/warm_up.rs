//! Functional warm-up: the caches are filled from the workload's own addresses, without time.
//!
//! What a write cache destages next depends on what was written when: a sweep by address finds little behind its position
//! and most before it, and a line that is written often holds more sectors the longer it stays. A cache that was only
//! filled has no such order, and destages other I/Os for as long as it takes to replace what it holds. So the policy
//! destages while the cache fills, without time (`write_back::Fill`).

mod rates;

use super::Simulation;
use super::hosts::Source;
use super::write_back::Fill;
use crate::config::WarmUp;
use crate::error::RunError;
use crate::interruption::{Interrupt, POLL_EVENTS};
use crate::read_cache::ReadCache;
use crate::rng::{Purpose, RandomStream};
use crate::workload::{Op, OperationModel, Synthetic, sums};

/// A source that fills the caches in place of the run's own.
struct Twin {
    /// Index of that source.
    of: usize,
    source: Synthetic,
    /// Whether a line of its requests was cached.
    has_filled: bool,
}

/// Commands drawn, at most, for each line to be filled: repeated addresses fill no line.
const DRAWS_PER_LINE: u64 = 32;

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
        let streams = &scenario.workload.streams;
        let mut rates = Vec::new();
        let mut twins = Vec::new();
        for (of, source) in hosts.sources.iter().enumerate() {
            let Source::Synthetic(source) = source else { continue };
            if source.is_warming_up() {
                let stream = &streams[source.stream as usize];
                let intensity = source.pace.as_ref().map_or(1.0, |pace| pace.first_intensity());
                rates.push(rates::rate(stream) * intensity);
                twins.push(Twin { of, source: source.for_warm_up(run, &stream.name), has_filled: false });
            }
        }
        let has = |is_wanted: fn(&OperationModel) -> bool| {
            let mut models = twins.iter().flat_map(|twin| &hosts.models[twin.source.models()]);
            models.any(|model| is_wanted(&model.operations))
        };
        let mut choice = RandomStream::named(run.seed, run.replicate, "", 0, Purpose::WarmUp);
        let mut back =
            write_back.as_mut().filter(|back| back.may_hold_dirty() && has(OperationModel::has_writes));
        let target = back.as_ref().map_or(0, |back| {
            let share = run.initial_dirty.map(|share| (share.0 * f64::from(back.cache.capacity())) as u32);
            share.unwrap_or_else(|| back.marks.middle())
        });
        back = back.filter(|_| target > 0);
        let mut fill = Fill::new(target, scenario.arrays().len());
        let keeps_reads =
            reads.cache.as_ref().is_some_and(ReadCache::keeps_all) && has(OperationModel::has_reads);
        let read_lines = reads.cache.as_ref().filter(|_| keeps_reads).map_or(0, ReadCache::capacity);
        // The draws of the twins change nothing of the run's own.
        let models = hosts.models.clone();
        let sums = sums(&rates);
        let mut draws = (DRAWS_PER_LINE * (u64::from(target) + read_lines as u64)).min(run.max_events);
        if twins.is_empty() {
            draws = 0;
        }
        let is_filling = |cache: &Option<ReadCache>| cache.as_ref().is_some_and(|cache| !cache.is_full());
        while draws > 0 && (!fill.is_over() || (keeps_reads && is_filling(&reads.cache))) {
            if draws.is_multiple_of(POLL_EVENTS) {
                interrupt.check().map_err(RunError::Interrupted)?;
            }
            draws -= 1;
            let draw = if twins.len() > 1 { choice.unit() } else { 0.0 };
            let twin = sums.partition_point(|&sum| sum <= draw).min(twins.len() - 1);
            let Twin { source, has_filled, .. } = &mut twins[twin];
            let command = source.command(&models);
            if command.operation == Op::Flush {
                continue;
            }
            let (start, end) = (command.lba.0, command.lba.0 + command.sectors.0);
            let is_write = command.operation == Op::Write;
            let mut into = back.as_mut().filter(|back| is_write && !back.bypasses(command.sectors));
            for line in lines.touched(start, command.sectors.0) {
                if let Some(back) = &mut into {
                    let (from, to) = (start.max(lines.start(line)), end.min(lines.start(line + 1)));
                    back.warm_up(context, (source.array, from, to - from), &mut fill);
                    *has_filled = true;
                }
                let Some(cache) = &mut reads.cache else { continue };
                if is_write {
                    cache.invalidate(source.array, line);
                } else if keeps_reads && cache.touch(source.array, line).is_none() {
                    cache.insert(source.array, line, None, false);
                    *has_filled = true;
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
