//! Configuration of one run: the single definition of every parameter's name, type, unit, range, default and text.
//!
//! The JSON Schema, the Python validation, the generated reference and the canonical form derive from it.

mod address;
mod array;
mod arrival;
mod back_end;
mod battery;
mod controller;
mod disk;
mod faults;
mod host;
mod link;
mod operations;
mod placement;
mod read_cache;
mod run;
mod sampling;
mod ssd;
mod workload;
mod write_cache;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::issue::Issue;

pub use address::{Address, AddressZone, CurvePoint};
pub use array::{Array, Device, Rebuild, Server};
pub use arrival::{AddressMap, Arrival, Copies, Distribution, Order, ReplayMode, Shift};
pub use back_end::BackEnd;
pub use battery::{Battery, BatteryKind, BatteryState};
pub use controller::{Cache, Controller, Firmware, TimeSpread};
pub use disk::{
    Disk, DiskBuffer, DiskGeometry, DiskReadAhead, Queue, QueuePolicy, Seek, SeekPoint, SpareRange, Zone,
};
pub use faults::Fault;
pub use host::{Host, Scheduling};
pub use link::{Bus, Duplex, HostLink};
pub use operations::{Operations, Size, SizeOption};
pub use placement::Placement;
pub use read_cache::{ReadAhead, ReadCache, ReadMode};
pub use run::{Run, WarmUp, Window};
pub use sampling::Sampling;
pub use ssd::{Precondition, ReadRetry, Ssd, SsdInterface};
pub use workload::{Activity, Component, Phase, Start, Step, Stream, Workload};
pub use write_cache::{Mirror, WhenFull, WriteCache, WritePolicy};

pub use crate::destage::Policy as DestagePolicy;
pub use crate::raid::{Level, ParityUpdate};

/// One configuration: a workload, the controller and its arrays, faults, and run settings.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    /// Workload.
    pub workload: Workload,
    /// Processors of the host, for streams with a `processor_time` (default: interactions need no processor).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<Host>,
    /// Array controller: a catalogue name or its fields.
    #[serde(default)]
    pub controller: Controller,
    /// The only array; the same as `arrays` with one entry.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub array: Option<Array>,
    /// Arrays behind the controller.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1))]
    pub arrays: Option<Vec<Array>>,
    /// Faults during the run.
    #[serde(default)]
    pub faults: Vec<Fault>,
    /// Run settings.
    #[serde(default)]
    pub run: Run,
}

impl Scenario {
    /// Reads a configuration from JSON text.
    ///
    /// # Errors
    /// One issue, with the position of the first mistake; without it for a wrong value in a text of one line, which is
    /// generated: its column differs from run to run and does not help to find the mistake.
    pub fn from_json(text: &str) -> Result<Self, Vec<Issue>> {
        serde_json::from_str(text).map_err(|error| {
            let code = if error.is_data() { "scenario.bad-form" } else { "scenario.bad-syntax" };
            let message = error.to_string();
            let position = format!(" at line {} column {}", error.line(), error.column());
            let is_positioned = !error.is_data() || text.contains('\n');
            let reason = if is_positioned { message.as_str() } else { message.trim_end_matches(&position) };
            vec![Issue::new(code, "", reason)]
        })
    }

    /// Returns the canonical form as JSON: defaults filled in, base units, keys sorted.
    ///
    /// Configurations that cannot behave differently have the same canonical form.
    pub fn to_canonical_json(&self) -> String {
        // Through `Value`, whose maps are sorted by key.
        serde_json::to_value(self).map_or_else(|error| error.to_string(), |value| value.to_string())
    }

    /// The arrays of a normalised configuration.
    pub fn arrays(&self) -> &[Array] {
        self.arrays.as_deref().unwrap_or_default()
    }
}

/// Returns the JSON Schema of [`Scenario`].
pub fn schema() -> serde_json::Value {
    schemars::schema_for!(Scenario).to_value()
}
