//! The parts of canonical configurations, their top-level fields: read once as written, and written once as canonical text.

use destage_core::config::{Array, Controller, Fault, Host, Run, Workload};
use destage_core::{Scenario, is_within_bounds};
use rustc_hash::FxHashMap;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::canonical_text::{to_member, to_text};

/// The names of the parts, in the order of the canonical text.
pub const PARTS: [&str; 6] = ["arrays", "controller", "faults", "host", "run", "workload"];

/// One or more fields of a configuration as written, read and within their bounds; each is none if it is not written.
#[derive(Default)]
#[allow(clippy::option_option)]
pub struct Fragment {
    workload: Option<Workload>,
    host: Option<Option<Host>>,
    controller: Option<Controller>,
    array: Option<Option<Array>>,
    arrays: Option<Option<Vec<Array>>>,
    faults: Option<Vec<Fault>>,
    run: Option<Run>,
}

impl Fragment {
    /// Reads fields; none if a field is unknown, malformed or out of bounds, which the check of one whole configuration
    /// explains.
    pub fn read(fields: &Map<String, Value>) -> Option<Self> {
        let fragment = Self {
            workload: read(fields, "workload")?,
            host: read(fields, "host")?,
            controller: read(fields, "controller")?,
            array: read(fields, "array")?,
            arrays: read(fields, "arrays")?,
            faults: read(fields, "faults")?,
            run: read(fields, "run")?,
        };
        fields.keys().all(|name| name == "array" || PARTS.contains(&name.as_str())).then_some(fragment)
    }

    /// Sets these fields in a configuration under construction; returns the parts that they are.
    fn set(&self, into: &mut Self) {
        clone_into(&mut into.workload, self.workload.as_ref());
        clone_into(&mut into.host, self.host.as_ref());
        clone_into(&mut into.controller, self.controller.as_ref());
        clone_into(&mut into.array, self.array.as_ref());
        clone_into(&mut into.arrays, self.arrays.as_ref());
        clone_into(&mut into.faults, self.faults.as_ref());
        clone_into(&mut into.run, self.run.as_ref());
    }

    /// Whether it has the fields of each part.
    fn has(&self) -> [bool; PARTS.len()] {
        [
            self.array.is_some() || self.arrays.is_some(),
            self.controller.is_some(),
            self.faults.is_some(),
            self.host.is_some(),
            self.run.is_some(),
            self.workload.is_some(),
        ]
    }

    /// The configuration with these fields and defaults for the others; none without a workload.
    fn into_scenario(self) -> Option<Scenario> {
        Some(Scenario {
            workload: self.workload?,
            host: self.host.flatten(),
            controller: self.controller.unwrap_or_default(),
            array: self.array.flatten(),
            arrays: self.arrays.flatten(),
            faults: self.faults.unwrap_or_default(),
            run: self.run.unwrap_or_default(),
        })
    }
}

fn clone_into<T: Clone>(target: &mut Option<T>, field: Option<&T>) {
    if let Some(field) = field {
        *target = Some(field.clone());
    }
}

/// Reads a field: none within if it is missing; none if it cannot be read or is out of bounds.
#[allow(clippy::option_option)]
fn read<T: Serialize + DeserializeOwned>(fields: &Map<String, Value>, name: &str) -> Option<Option<T>> {
    let Some(value) = fields.get(name) else { return Some(None) };
    let field = T::deserialize(value).ok()?;
    let resolved = Map::from_iter([(name.to_owned(), serde_json::to_value(&field).ok()?)]);
    is_within_bounds(&Value::Object(resolved)).then_some(Some(field))
}

/// The configuration of fragments, and by part the one that it comes from; the number of a fragment that cannot be read
/// otherwise.
pub fn assemble(
    fragments: &[Option<Fragment>],
    ids: impl Iterator<Item = u32>,
) -> Result<(Scenario, [u32; PARTS.len()]), u32> {
    let mut whole = Fragment::default();
    let mut sources = [u32::MAX; PARTS.len()];
    for id in ids {
        let fragment = fragments.get(id as usize).and_then(Option::as_ref).ok_or(id)?;
        fragment.set(&mut whole);
        for (source, has) in sources.iter_mut().zip(fragment.has()) {
            if has {
                *source = id;
            }
        }
    }
    // Without a workload, no fragment is at fault.
    Ok((whole.into_scenario().ok_or(u32::MAX)?, sources))
}

/// An axis: a parameter whose value is read from the canonical configuration.
pub struct Axis {
    /// The position of its part in [`PARTS`].
    pub part: usize,
    path: Vec<String>,
    values: Vec<String>,
    by_text: FxHashMap<String, u32>,
}

impl Axis {
    /// The axis of a dotted path's segments; none if it is in no part.
    pub fn new(path: Vec<String>) -> Option<Self> {
        let part = PARTS.iter().position(|name| Some(*name) == path.first().map(String::as_str))?;
        Some(Self { part, path, values: Vec::new(), by_text: FxHashMap::default() })
    }

    /// Forgets all values.
    pub fn clear(&mut self) {
        self.values.clear();
        self.by_text.clear();
    }

    /// The text of a value.
    pub fn text(&self, value: u32) -> &str {
        &self.values[value as usize]
    }

    /// The number of this axis's value in a part; `u32::MAX` if it has none.
    fn read(&mut self, part: &Value) -> Option<u32> {
        let found = self.path[1..].iter().try_fold(part, |node, segment| match node {
            Value::Object(fields) => fields.get(segment),
            Value::Array(items) => items.get(segment.parse::<usize>().ok()?),
            _ => None,
        });
        let Some(found) = found.filter(|value| !value.is_null()) else { return Some(u32::MAX) };
        let text = to_text(found).ok()?;
        if let Some(&known) = self.by_text.get(&text) {
            return Some(known);
        }
        let number = self.values.len() as u32;
        self.values.push(text.clone());
        self.by_text.insert(text, number);
        Some(number)
    }
}

/// A part of canonical configurations.
pub struct Part {
    /// Its name and value in the canonical text.
    pub member: String,
    /// The same without the locations of traces, which change no result; none if it is equal.
    identity: Option<String>,
    /// The value of each axis in it.
    pub values: Vec<u32>,
}

impl Part {
    /// What the identity of a run has of it.
    pub fn identity(&self) -> &str {
        self.identity.as_deref().unwrap_or(&self.member)
    }
}

/// The parts of a configuration by number; `u32::MAX` for one that it lacks.
pub type PartIds = [u32; PARTS.len()];

/// The position of the part `run`.
pub const RUN: usize = 4;

/// The parts written so far, each once.
#[derive(Default)]
pub struct Parts {
    all: Vec<Part>,
    workloads: Known<Workload>,
    hosts: Known<Option<Host>>,
    controllers: Known<Controller>,
    arrays: Known<Option<Vec<Array>>>,
    faults: Known<Vec<Fault>>,
    runs: Known<Run>,
}

/// The parts of one kind: by the fragment (and replicate) that they come from, the few values that rules between the fields
/// made of it. Comparing values takes a tenth of the time of writing their texts.
type Known<T> = FxHashMap<(u32, u32), Vec<(T, u32)>>;

impl Parts {
    /// The part of this number.
    pub fn get(&self, number: u32) -> &Part {
        &self.all[number as usize]
    }

    /// The number of each axis's value in a configuration; `u32::MAX` if it has none.
    pub fn values(&self, parts: &PartIds, axes: &[Axis]) -> Vec<u32> {
        let mut next = [0; PARTS.len()];
        let value = |axis: &Axis| {
            let position = next[axis.part];
            next[axis.part] += 1;
            self.all.get(parts[axis.part] as usize).map_or(u32::MAX, |part| part.values[position])
        };
        axes.iter().map(value).collect()
    }

    /// Adds the parts of a normalised configuration: one number for each of [`PARTS`] and replicate, `u32::MAX` for a missing
    /// part.
    pub fn add(
        &mut self,
        scenario: Scenario,
        sources: &[u32; PARTS.len()],
        replicates: u32,
        axes: &mut [Axis],
        runs: &mut Vec<u32>,
    ) -> Option<PartIds> {
        let all = &mut self.all;
        let Scenario { workload, host, controller, arrays, faults, run, array: _ } = scenario;
        let number = |part: usize| (part, sources[part]);
        let arrays = find(&mut self.arrays, number(0), 0, arrays, all, axes)?;
        let controller = find(&mut self.controllers, number(1), 0, controller, all, axes)?;
        let faults = find(&mut self.faults, number(2), 0, faults, all, axes)?;
        let host = match host {
            None => u32::MAX,
            some => find(&mut self.hosts, number(3), 0, some, all, axes)?,
        };
        runs.clear();
        for replicate in 0..replicates {
            let run = Run { replicate: run.replicate + replicate, ..run.clone() };
            runs.push(find(&mut self.runs, number(4), replicate, run, all, axes)?);
        }
        let workload = find(&mut self.workloads, number(5), 0, workload, all, axes)?;
        Some([arrays, controller, faults, host, *runs.first()?, workload])
    }
}

fn find<T: PartialEq + Serialize>(
    known: &mut Known<T>,
    (part, source): (usize, u32),
    replicate: u32,
    value: T,
    all: &mut Vec<Part>,
    axes: &mut [Axis],
) -> Option<u32> {
    let candidates = known.entry((source, replicate)).or_default();
    if let Some((_, number)) = candidates.iter().find(|(known, _)| *known == value) {
        return Some(*number);
    }
    let number = all.len() as u32;
    all.push(write(part, &value, axes)?);
    candidates.push((value, number));
    Some(number)
}

/// Writes a part and reads the axes in it.
pub fn write<T: Serialize>(part: usize, value: &T, axes: &mut [Axis]) -> Option<Part> {
    let mut document = serde_json::to_value(value).ok()?;
    let member = to_member(PARTS[part], &document).ok()?;
    let values: Option<Vec<u32>> =
        axes.iter_mut().filter(|axis| axis.part == part).map(|axis| axis.read(&document)).collect();
    let identity =
        if remove_files(&mut document) { Some(to_member(PARTS[part], &document).ok()?) } else { None };
    Some(Part { member, identity, values: values? })
}

/// Removes the files of the traces that a workload replays; returns whether there are any.
fn remove_files(document: &mut Value) -> bool {
    let mut has_files = false;
    if let Some(Value::Array(streams)) = document.get_mut("streams") {
        for stream in streams {
            if let Some(Value::Object(arrival)) = stream.get_mut("arrival")
                && arrival.get("kind").and_then(Value::as_str) == Some("trace")
                && arrival.get("file").is_some_and(Value::is_string)
            {
                arrival.remove("file");
                has_files = true;
            }
        }
    }
    has_files
}
