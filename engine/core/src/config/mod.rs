//! The configuration of one run: every parameter's name, type, unit, range, default and prose, defined once.
//!
//! The JSON Schema, the Python validation, the generated reference and the canonical form all derive from here.

mod address;
mod array;
mod arrival;
mod back_end;
mod battery;
mod controller;
mod disk;
mod faults;
mod link;
mod operations;
mod read_cache;
mod run;
mod ssd;
mod workload;
mod write_cache;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::issue::Issue;

pub use address::{Address, AddressZone, CurvePoint, Placement};
pub use array::{Array, Device, Rebuild, Server};
pub use arrival::{AddressMap, Arrival, Copies, Distribution, Order, ReplayMode, Shift};
pub use back_end::BackEnd;
pub use battery::{Battery, BatteryKind, BatteryState};
pub use controller::{Cache, Controller, Firmware, Spread};
pub use disk::{Disk, DiskBuffer, DiskGeometry, DiskReadAhead, Queue, QueuePolicy, Seek, SeekPoint};
pub use faults::Fault;
pub use link::{Bus, Duplex, Link};
pub use operations::{Operations, Size, SizeOption};
pub use read_cache::{ReadAhead, ReadCache, ReadMode};
pub use run::{Run, WarmUp, Window};
pub use ssd::{Precondition, Ssd, SsdInterface};
pub use workload::{Activity, Component, Phase, Start, Step, Stream, Workload};
pub use write_cache::{DestagePolicy, Mirror, WriteCache, WritePolicy};

pub use crate::disk::geometry::Zone;
pub use crate::raid::{Level, ParityUpdate};

/// One configuration: a workload on arrays behind a controller, and how the run is conducted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    /// The load.
    pub workload: Workload,
    /// The array controller, a catalogue name or its fields.
    #[serde(default)]
    pub controller: Controller,
    /// The array, where there is only one; short for `arrays` with one entry.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub array: Option<Array>,
    /// The arrays behind the controller.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1))]
    pub arrays: Option<Vec<Array>>,
    /// What goes wrong during the run, and when.
    #[serde(default)]
    pub faults: Vec<Fault>,
    /// How the run is conducted.
    #[serde(default)]
    pub run: Run,
}

impl Scenario {
    /// Reads a configuration from JSON text.
    ///
    /// # Errors
    /// One issue that says where the text stops being a configuration.
    pub fn from_json(text: &str) -> Result<Self, Vec<Issue>> {
        serde_json::from_str(text).map_err(|error| {
            let code = if error.is_data() { "scenario.bad-form" } else { "scenario.bad-syntax" };
            vec![Issue::new(code, "", error.to_string())]
        })
    }

    /// The canonical form as JSON: every default filled in, base units, keys sorted.
    ///
    /// Two configurations that cannot behave differently have the same canonical form.
    pub fn to_canonical_json(&self) -> String {
        // Through `Value`, whose maps are sorted by key.
        serde_json::to_value(self).map_or_else(|error| error.to_string(), |value| value.to_string())
    }

    /// The arrays of a normalised configuration.
    pub fn arrays(&self) -> &[Array] {
        self.arrays.as_deref().unwrap_or_default()
    }
}

/// The JSON Schema of [`Scenario`].
pub fn schema() -> serde_json::Value {
    schemars::schema_for!(Scenario).to_value()
}
