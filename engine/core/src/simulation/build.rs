//! From a normalised scenario to a run that can start.

use std::sync::Arc;

use super::array_state::ArrayState;
use super::back_end::BackEnd;
use super::conduct::{Conduct, LARGEST_BACKLOG};
use super::hosts::Source;
use super::measures::Measures;
use super::power::Power;
use super::redundancy::Redundancy;
use super::replay::{self, Mapping, Replay};
use super::stripe_write::StripeWrite;
use super::{Mirror, Simulation, TraceStore, WriteBack};
use crate::config::{Arrival, DestagePolicy, Duplex, ReplayMode, Run, Scenario, Shift, Stream, WritePolicy};
use crate::destage::{Destage, WaterMarks};
use crate::disk;
use crate::error::RunError;
use crate::event::EventQueue;
use crate::pipe::Pipe;
use crate::raid::DegradedReads;
use crate::read_cache::ReadCache;
use crate::rng::{self, Purpose};
use crate::slab::{Fifo, Slab};
use crate::trace::Trace;
use crate::units::{Fraction, SECTOR_BYTES, Sectors, SimDuration, SimTime};
use crate::workload::{
    AddressModel, Clock, Content, OperationModel, Pace, RequestModel, StepPlan, Synthetic, Timing, sums,
};
use crate::write_cache::{Parts, WriteCache};

impl Simulation {
    /// Builds the run of a normalised scenario.
    pub(super) fn build(scenario: Scenario, traces: &dyn TraceStore) -> Result<Self, RunError> {
        let (mut arrays, mut devices) = (Vec::new(), Vec::new());
        let (mut device_array, mut device_disk) = (Vec::new(), Vec::new());
        for (index, array) in scenario.arrays().iter().enumerate() {
            let place = format!("arrays.{index}");
            let layout = disk::layout_of(array).map_err(|error| error.issue(&place))?;
            let built = disk::build(array, 0..array.disks, scenario.run.seed, scenario.run.replicate)
                .map_err(|error| error.issue(&place))?;
            arrays.push(ArrayState {
                layout,
                parity_update: array.parity_update,
                first_device: devices.len() as u32,
                is_as_built: true,
                redundancy: Redundancy::new(devices.len() as u32, array.disks, array.hot_spares),
                rebuild: array.rebuild,
                locks: std::collections::HashMap::default(),
                is_volatile: built.iter().any(disk::BlockDevice::is_volatile),
                destages: 0,
                destage_limit: scenario.controller.cache.write.destage_depth.saturating_mul(array.disks),
                awaits_age: false,
                idleness: super::array_state::Idleness::default(),
            });
            device_disk.extend(0..array.disks);
            device_array.extend(std::iter::repeat_n(index as u16, built.len()));
            devices.extend(built);
        }
        let controller = &scenario.controller;
        let power = Power::new(&controller.battery);
        let write_back = build_write_back(&scenario, &arrays, &power);
        let cache = &controller.cache;
        let read_cache = Self::build_read_cache(cache);
        let mut simulation = Self {
            now: SimTime::ZERO,
            events: EventQueue::new(),
            event_count: 0,
            sources: Vec::new(),
            replays_left: 0,
            has_replays: false,
            threads: 0,
            models: Vec::new(),
            requests: Slab::default(),
            waiting: Fifo::default(),
            outstanding: 0,
            limit: controller.outstanding_limit,
            backlog_limit: LARGEST_BACKLOG,
            firmware: Pipe::default(),
            command_time: controller.firmware.command_time,
            command_draws: (controller.firmware.spread == crate::config::TimeSpread::Exponential).then(
                || {
                    rng::RandomStream::named(
                        scenario.run.seed,
                        scenario.run.replicate,
                        "",
                        0,
                        Purpose::Firmware,
                    )
                },
            ),
            link: [Pipe::default(); 2],
            is_full_duplex: controller.link.duplex == Some(Duplex::Full),
            back_end: controller.back_end.map(BackEnd::new),
            xor: Pipe::default(),
            xor_bandwidth: controller.xor_bandwidth,
            watches_idleness: write_back.as_ref().is_some_and(|back| back.idle_delay.is_some()),
            write_back,
            power,
            read_cache,
            line_sectors: cache.line.0 / SECTOR_BYTES,
            line_bits: (cache.line.0 / SECTOR_BYTES).ilog2(),
            measures: Measures::new(arrays.len()),
            timeline: super::Timeline::default(),
            arrays,
            devices,
            device_array,
            device_disk,
            operations: Slab::default(),
            planned: Slab::default(),
            fetches: Slab::default(),
            waiters: Slab::default(),
            conduct: Conduct::new(&scenario.run, &scenario.workload),
            at_window_end: None,
            recorded: None,
            extents: Vec::new(),
            stripe_write: StripeWrite::default(),
            degraded_reads: DegradedReads::default(),
            #[cfg(debug_assertions)]
            oracle: super::Oracle::default(),
            #[cfg(all(test, debug_assertions))]
            fault: None,
            #[cfg(any(test, feature = "mutations"))]
            mistake: None,
            scenario,
        };
        for index in 0..simulation.scenario.workload.streams.len() {
            let stream = simulation.scenario.workload.streams[index].clone();
            simulation.add_stream(index, &stream, traces)?;
        }
        simulation.backlog_limit += simulation.sources.iter().map(Source::population).sum::<usize>();
        simulation.replays_left = simulation.sources.iter().filter(|source| source.is_replay_to_do()).count();
        simulation.has_replays = simulation.replays_left > 0;
        Ok(simulation)
    }

    /// The read cache, empty; nothing where it would hold nothing.
    fn build_read_cache(cache: &crate::config::Cache) -> Option<ReadCache> {
        (cache.read_bytes() >= cache.line
            && (cache.read.mode == crate::config::ReadMode::Cached || cache.read.read_ahead.is_some()))
        .then(|| ReadCache::new(cache.read_bytes(), cache.line, &cache.read))
    }

    fn add_stream(&mut self, index: usize, stream: &Stream, traces: &dyn TraceStore) -> Result<(), RunError> {
        let array = self
            .scenario
            .arrays()
            .iter()
            .position(|array| Some(&array.name) == stream.array.as_ref())
            .unwrap_or_default();
        let capacity = self.arrays[array].layout.capacity();
        let place = (index as u16, array as u16);
        let users = self.scenario.workload.users;
        if let Arrival::Trace { ref file, ref digest, map, .. } = stream.arrival {
            let name = digest.as_ref().unwrap_or(file);
            let trace = traces
                .find(name)
                .or_else(|| traces.find(file))
                .ok_or_else(|| RunError::TraceNotLoaded { stream: index, name: name.clone() })?;
            let copies = stream.sources(users);
            let shared = self.shared_extents(stream);
            let mapping = Mapping::new(map, &trace, capacity, copies, shared.as_ref()).map_err(|needed| {
                let capacity = capacity.bytes().0;
                RunError::TraceBeyondArray { stream: index, needed: needed.bytes().0, capacity }
            })?;
            self.add_replays(place.1, &trace, &Arc::new(mapping), stream);
            return Ok(());
        }
        self.add_synthetics(stream, place, capacity);
        Ok(())
    }

    /// The sources of a synthetic stream.
    fn add_synthetics(&mut self, stream: &Stream, (index, array): (u16, u16), capacity: Sectors) {
        let run = self.scenario.run.clone();
        let workload = &self.scenario.workload;
        let requests = stream.requests();
        let mut kind = 0;
        let content = Content {
            name: stream.name.clone(),
            stream: index,
            array,
            first_model: self.models.len() as u32,
            kinds: requests.len() as u32,
            steps: stream
                .steps
                .as_ref()
                .map(|steps| steps.iter().map(|step| StepPlan::new(step, &mut kind)).collect()),
            mix: stream
                .mix
                .as_ref()
                .map(|mix| sums(&mix.iter().map(|component| component.weight).collect::<Vec<_>>())),
        };
        let mut scatter =
            rng::RandomStream::named(run.seed, run.replicate, &stream.name, 0, Purpose::Placement);
        for (_, operations, address) in requests {
            let bounds =
                (operations.largest().sectors(), operations.alignment.map(crate::units::Bytes::sectors));
            self.models.push(RequestModel {
                operations: OperationModel::new(operations),
                address: AddressModel::new(address, capacity, bounds, workload.users, &mut scatter),
            });
        }
        let clock = stream.active.as_ref().map(|active| Arc::new(Clock::new(workload, active)));
        let times = if let Arrival::Closed { times, .. } = stream.arrival { times } else { None };
        for user in 0..stream.sources(workload.users) {
            let timing = Timing::new(&stream.arrival, &run, &stream.name, user);
            let mut source = Synthetic::new(&run, &content, &self.models, user, timing);
            if clock.is_some() || stream.start.is_some() || stream.lasts.is_some() || times.is_some() {
                let delay = start_of(&run, stream, user);
                source.pace = Some(Box::new(Pace::new(clock.clone(), delay, stream.lasts, times)));
            }
            self.sources.push(Source::Synthetic(source));
        }
    }

    /// The draw that says which extents of a trace all its copies share, and their share; nothing where there are no
    /// copies.
    fn shared_extents(&self, stream: &Stream) -> Option<(rng::RandomStream, Fraction)> {
        let Arrival::Trace { copies: Some(copies), .. } = &stream.arrival else { return None };
        let run = &self.scenario.run;
        let draws = rng::RandomStream::named(run.seed, run.replicate, &stream.name, 0, Purpose::Placement);
        Some((draws, copies.shared_fraction))
    }

    fn add_replays(&mut self, array: u16, trace: &Arc<Trace>, mapping: &Arc<Mapping>, stream: &Stream) {
        let Arrival::Trace { mode, depth, speed, copies, .. } = stream.arrival else { return };
        let run = &self.scenario.run;
        let mut lists: Vec<Option<Arc<[u32]>>> = vec![None];
        if mode == ReplayMode::Dependent {
            let mut by_process: std::collections::BTreeMap<u32, Vec<u32>> = std::collections::BTreeMap::new();
            for index in 0..trace.len() {
                by_process.entry(trace.record(index).process).or_default().push(index as u32);
            }
            lists = by_process.into_values().map(|records| Some(records.into())).collect();
        }
        let length = replay::length(trace);
        for copy in 0..stream.sources(self.scenario.workload.users) {
            let delay = start_of(run, stream, copy);
            let mut shift = SimDuration::ZERO;
            if copies.is_some_and(|copies| copies.shift == Shift::Random) {
                let mut draws =
                    rng::RandomStream::named(run.seed, run.replicate, &stream.name, copy, Purpose::Arrival);
                shift = SimDuration(draws.below(length.0.max(1)));
            }
            for records in &lists {
                let (trace, mapping) = (Arc::clone(trace), Arc::clone(mapping));
                let mut replay = Replay {
                    array,
                    trace,
                    mapping,
                    mode,
                    speed,
                    depth,
                    copy,
                    delay,
                    records: records.clone(),
                    first: 0,
                    shift,
                    length,
                    issued: 0,
                    outstanding: 0,
                    last_completion: SimTime::ZERO,
                    awaited: 0,
                    held_gap: None,
                    commit_start: None,
                };
                replay.find_first();
                self.sources.push(Source::Replay(replay));
            }
        }
    }
}

/// How long after its stream's start user `user` starts. The draw is the user's, in all streams the same.
fn start_of(run: &Run, stream: &Stream, user: u32) -> SimDuration {
    let Some(start) = stream.start else { return SimDuration::ZERO };
    let mut draws = rng::RandomStream::named(run.seed, run.replicate, "", user, Purpose::Start);
    start.delay(Fraction(draws.unit()))
}

fn build_write_back(scenario: &Scenario, arrays: &[ArrayState], power: &Power) -> Option<WriteBack> {
    let cache = &scenario.controller.cache;
    if cache.write.policy == WritePolicy::WriteThrough || cache.dirty_bytes() < cache.line {
        return None;
    }
    let stripes: Vec<_> = arrays.iter().map(|array| array.layout.stripe_sectors()).collect();
    let size = cache.dirty_bytes();
    let capacity = (size.0 / cache.line.0) as f64;
    let high = ((capacity * cache.write.high_water.0) as u32).max(1);
    let low = (capacity * cache.write.low_water.0) as u32;
    let write = &cache.write;
    let parts = Parts {
        size,
        line: cache.line,
        destage: Destage::new(write.destage_policy, arrays.len(), WaterMarks::new(high, low)),
        has_age_limit: write.age_limit.is_some(),
        prefers_full: write.prefer_full_stripes,
        keeps_clean: write.keep_clean,
    };
    Some(WriteBack {
        cache: WriteCache::new(parts, &stripes),
        warm_level: u32::midpoint(low, high),
        age_limit: write.age_limit,
        idle_delay: (write.destage_policy == DestagePolicy::IdleTime).then_some(write.idle_delay),
        bypass_from: write.bypass_threshold.map(|threshold| Sectors(threshold.0.div_ceil(SECTOR_BYTES))),
        mirror: write.mirror.map(|mirror| Mirror {
            pipe: Pipe::default(),
            bandwidth: mirror.bandwidth,
            latency: mirror.latency,
        }),
        stalled: Fifo::default(),
        held: Fifo::default(),
        protection: power.protection(),
        going: 0,
        is_draining: false,
        yields: cache.write.yield_to_reads,
    })
}
