//! The sources of a scenario's streams.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::processor::{Demand, Processor};
use super::replay::{self, Mapping, Replay};
use super::{Hosts, Source};
use crate::config::{Arrival, ReplayMode, Run, Scenario, Shift, Stream};
use crate::error::RunError;
use crate::rng::{self, Purpose};
use crate::simulation::TraceStore;
use crate::simulation::array_set::ArraySet;
use crate::trace::Trace;
use crate::units::{Bytes, Fraction, Sectors, SimDuration, SimTime};
use crate::workload::{
    AddressModel, Clock, Content, OperationModel, Pace, RequestModel, StepPlan, Synthetic, Timing, sums,
};

impl Hosts {
    /// The sources of a scenario.
    ///
    /// # Errors
    /// A trace is missing, or does not fit on its array.
    pub fn new(scenario: &Scenario, arrays: &ArraySet, traces: &dyn TraceStore) -> Result<Self, RunError> {
        let mut hosts = Self::default();
        for (index, stream) in scenario.workload.streams.iter().enumerate() {
            hosts.add_stream(scenario, arrays, index, stream, traces)?;
        }
        let is_to_do = |source: &&Source| matches!(source, Source::Replay(replay) if !replay.is_over());
        hosts.replays_left = hosts.sources.iter().filter(is_to_do).count();
        hosts.has_replays = hosts.replays_left > 0;
        hosts.processor =
            scenario.host.map(|host| Box::new(Processor::new(host, demands(scenario, &hosts.sources))));
        Ok(hosts)
    }

    fn add_stream(
        &mut self,
        scenario: &Scenario,
        arrays: &ArraySet,
        index: usize,
        stream: &Stream,
        traces: &dyn TraceStore,
    ) -> Result<(), RunError> {
        let array = scenario
            .arrays()
            .iter()
            .position(|array| Some(&array.name) == stream.array.as_ref())
            .unwrap_or_default() as u16;
        let capacity = arrays[array].layout.capacity();
        if let Arrival::Trace { ref file, ref digest, map, .. } = stream.arrival {
            let name = digest.as_ref().unwrap_or(file);
            let trace = traces
                .find(name)
                .or_else(|| traces.find(file))
                .ok_or_else(|| RunError::TraceNotLoaded { stream: index, name: name.clone() })?;
            let copies = stream.sources(scenario.workload.users);
            let shared = shared_extents(&scenario.run, stream);
            let mapping = Mapping::new(map, &trace, capacity, copies, shared.as_ref()).map_err(|needed| {
                let capacity = capacity.bytes().0;
                RunError::TraceBeyondArray { stream: index, needed: needed.bytes().0, capacity }
            })?;
            self.add_replays(scenario, stream, array, &trace, &Arc::new(mapping));
        } else {
            self.add_synthetics(scenario, stream, (index as u16, array), capacity);
        }
        Ok(())
    }

    /// The sources of a synthetic stream.
    fn add_synthetics(
        &mut self,
        scenario: &Scenario,
        stream: &Stream,
        (index, array): (u16, u16),
        capacity: Sectors,
    ) {
        let (run, workload) = (&scenario.run, &scenario.workload);
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
            let bounds = (operations.largest().sectors(), operations.alignment.map(Bytes::sectors));
            self.models.push(RequestModel {
                operations: OperationModel::new(operations),
                address: AddressModel::new(address, capacity, bounds, workload.users, &mut scatter),
            });
        }
        let clock = stream.active.as_ref().map(|active| Arc::new(Clock::new(workload, active)));
        let times = if let Arrival::Closed { times, .. } = stream.arrival { times } else { None };
        for user in 0..stream.sources(workload.users) {
            let timing = Timing::new(&stream.arrival, run, &stream.name, user);
            let mut source = Synthetic::new(run, &content, &self.models, user, timing);
            if clock.is_some() || stream.start.is_some() || stream.lasts.is_some() || times.is_some() {
                let delay = start_of(run, stream, user);
                source.pace = Some(Box::new(Pace::new(clock.clone(), delay, stream.lasts, times)));
            }
            self.sources.push(Source::Synthetic(source));
        }
    }

    /// The sources of a stream that replays a trace.
    fn add_replays(
        &mut self,
        scenario: &Scenario,
        stream: &Stream,
        array: u16,
        trace: &Arc<Trace>,
        mapping: &Arc<Mapping>,
    ) {
        let Arrival::Trace { mode, depth, speed, copies, .. } = stream.arrival else { return };
        let run = &scenario.run;
        let mut lists: Vec<Option<Arc<[u32]>>> = vec![None];
        if mode == ReplayMode::Dependent {
            let mut by_process: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
            for index in 0..trace.len() {
                by_process.entry(trace.record(index).process).or_default().push(index as u32);
            }
            lists = by_process.into_values().map(|records| Some(records.into())).collect();
        }
        let length = replay::length(trace);
        for copy in 0..stream.sources(scenario.workload.users) {
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

/// The processor time that the interactions of each source demand.
fn demands(scenario: &Scenario, sources: &[Source]) -> Box<[Option<Demand>]> {
    let run = &scenario.run;
    let demand = |source: &Source| {
        let Source::Synthetic(source) = source else { return None };
        let stream = &scenario.workload.streams[source.stream as usize];
        let draws = || {
            rng::RandomStream::named(run.seed, run.replicate, &stream.name, source.user, Purpose::Processor)
        };
        stream.processor_time.map(|time| Demand { time, draws: draws() })
    };
    sources.iter().map(demand).collect()
}

/// The draw of the extents that all copies of a trace share, and their fraction; `None` without copies.
fn shared_extents(run: &Run, stream: &Stream) -> Option<(rng::RandomStream, Fraction)> {
    let Arrival::Trace { copies: Some(copies), .. } = &stream.arrival else { return None };
    let draws = rng::RandomStream::named(run.seed, run.replicate, &stream.name, 0, Purpose::Placement);
    Some((draws, copies.shared_fraction))
}

/// How long after the start of its stream a user starts. The draw is the user's, the same in all streams.
fn start_of(run: &Run, stream: &Stream, user: u32) -> SimDuration {
    let Some(start) = stream.start else { return SimDuration::ZERO };
    let mut draws = rng::RandomStream::named(run.seed, run.replicate, "", user, Purpose::Start);
    start.delay(Fraction(draws.unit()))
}
