//! The arrays and their devices, from array operations down to disk I/Os.
//!
//! ```text
//!   read, write, flush, rebuild ─► array operation ─► stripe lock ─► step ─► merging ─► channel ─► device
//!                                        ▲                            │
//!                                        └── parity, the next step ──┘
//! ```
//!
//! An operation that has started has disk I/Os: at least one disk of each stripe is there, or the array has lost data and
//! the run is over. So an operation ends only when a disk I/O ends, and [`ArraySet::go_on`] reports it.

pub(super) mod array_state;
mod back_end;
mod degraded;
mod disk_failure;
mod io;
mod lock_range;
mod merge;
mod mirrors;
pub(super) mod operation;
mod rebuild;
pub(super) mod redundancy;
mod stripe_lock;
pub(super) mod stripe_write;

use std::ops::{Index, IndexMut};

use super::context::Context;
use super::timeline::Transition;
use crate::config::Scenario;
use crate::disk::{self, BlockDevice as _, Device, LayoutProblem};
use crate::error::RunError;
use crate::pipe::Pipe;
use crate::raid::DegradedReads;
use crate::slab::Slab;
use crate::units::{Bandwidth, Lba, Sectors, SimDuration, SimTime};

pub use array_state::{ArrayState, Place};
pub use back_end::Crossed;
pub use merge::list_of;
pub use operation::{ArrayOperation, Kind, Parent, PlannedIo};
pub use redundancy::MemberState;
pub use stripe_write::StripeWrite;

use back_end::BackEnd;
use merge::Merging;
use mirrors::Load;

/// The arrays, their devices and what is in progress there.
#[derive(Debug)]
pub struct ArraySet {
    arrays: Vec<ArrayState>,
    /// All devices, failed ones included.
    pub devices: Vec<Device>,
    /// The place that each device has, or had until it failed.
    places: Vec<Place>,
    /// What each device has to do.
    loads: Vec<Load>,
    operations: Slab<ArrayOperation>,
    planned: Slab<PlannedIo>,
    back_end: Option<BackEnd>,
    /// I/Os that become one.
    merging: Merging,
    xor: Pipe,
    xor_bandwidth: Option<Bandwidth>,
    /// How long disks have to be without foreground I/Os to count as idle, if the destage policy asks.
    idle_delay: Option<SimDuration>,
    /// The stripe write that is being planned.
    stripe_write: StripeWrite,
    /// The degraded reads that are being planned.
    degraded_reads: DegradedReads,
}

impl Index<u16> for ArraySet {
    type Output = ArrayState;

    #[inline]
    fn index(&self, array: u16) -> &ArrayState {
        &self.arrays[array as usize]
    }
}

impl IndexMut<u16> for ArraySet {
    #[inline]
    fn index_mut(&mut self, array: u16) -> &mut ArrayState {
        &mut self.arrays[array as usize]
    }
}

impl ArraySet {
    /// The arrays of a scenario; their destage policy considers disks idle after `idle_delay`, if at all.
    ///
    /// # Errors
    /// An array or a disk cannot be built.
    pub fn new(scenario: &Scenario, idle_delay: Option<SimDuration>) -> Result<Self, RunError> {
        let (mut arrays, mut devices, mut places) = (Vec::new(), Vec::new(), Vec::new());
        for (index, array) in scenario.arrays().iter().enumerate() {
            let reject =
                |error: LayoutProblem| RunError::Configuration(vec![error.issue(&format!("arrays.{index}"))]);
            let layout = disk::layout_of(array).map_err(reject)?;
            let back_end = scenario.controller.back_end.as_ref();
            let built =
                disk::build(array, back_end, 0..array.disks, scenario.run.seed, scenario.run.replicate)
                    .map_err(reject)?;
            let is_volatile = built.iter().any(disk::BlockDevice::is_volatile);
            arrays.push(ArrayState::new(array, layout, devices.len() as u32, is_volatile));
            places.extend((0..array.disks).map(|disk| Place { array: index as u16, disk }));
            devices.extend(built);
        }
        Ok(Self {
            loads: vec![Load::default(); devices.len()],
            arrays,
            devices,
            places,
            operations: Slab::default(),
            planned: Slab::default(),
            back_end: scenario.controller.back_end.map(BackEnd::new),
            merging: Merging::new(scenario.controller.merge_limit.sectors()),
            xor: Pipe::default(),
            xor_bandwidth: scenario.controller.xor_bandwidth,
            idle_delay,
            stripe_write: StripeWrite::default(),
            degraded_reads: DegradedReads::default(),
        })
    }

    /// Number of arrays.
    pub const fn len(&self) -> usize {
        self.arrays.len()
    }

    /// The arrays, in order.
    pub fn iter(&self) -> impl Iterator<Item = &ArrayState> + Clone {
        self.arrays.iter()
    }

    /// The devices of `array`, failed ones included.
    pub fn devices_of(&self, array: u16) -> impl Iterator<Item = &Device> {
        let is_here = move |place: &Place| place.array == array;
        self.devices
            .iter()
            .zip(&self.places)
            .filter(move |(_, place)| is_here(place))
            .map(|(device, _)| device)
    }

    /// The devices that hold a place in an array and have not failed.
    pub fn working_devices(&self) -> impl Iterator<Item = &Device> {
        self.arrays
            .iter()
            .flat_map(|array| &array.redundancy.members)
            .filter(|member| !matches!(member.state, MemberState::Missing))
            .map(|member| &self.devices[member.device as usize])
    }

    /// Array operations in progress.
    pub fn operation_count(&self) -> usize {
        self.operations.len()
    }

    /// I/Os at the devices.
    pub fn io_count(&self) -> u32 {
        self.devices.iter().map(|device| device.usage().in_system()).sum()
    }

    /// Busy fraction of the busiest back-end channel, if there are channels.
    pub fn back_end_busy_fraction(&self, now: SimTime) -> Option<f64> {
        self.back_end.as_ref().map(|back_end| back_end.busy_fraction(now))
    }

    /// Busy fraction of the XOR engine, if there is one.
    pub fn xor_busy_fraction(&self, now: SimTime) -> Option<f64> {
        self.xor_bandwidth.map(|_| self.xor.busy_fraction(now))
    }

    /// The arrays, in order.
    pub fn states(&self) -> &[ArrayState] {
        &self.arrays
    }

    /// Whether an array has lost data.
    pub fn have_lost_data(&self) -> bool {
        self.arrays.iter().any(|array| array.redundancy.has_lost_data(&array.layout))
    }

    /// Whether no operation, planned I/O or lock is left.
    #[cfg(test)]
    pub fn is_quiet(&self) -> bool {
        let is_unlocked = self.arrays.iter().all(|array| array.locks.is_empty());
        self.operations.len() == 0 && self.planned.len() == 0 && self.merging.is_empty() && is_unlocked
    }

    /// Restarts the measurement of utilisation.
    pub fn reset(&mut self, now: SimTime) {
        self.xor.reset(now);
        if let Some(back_end) = &mut self.back_end {
            back_end.reset(now);
        }
        for device in &mut self.devices {
            device.usage_mut().reset(now);
        }
    }

    /// Brings the measurement of the devices up to date.
    pub fn advance(&mut self, now: SimTime) {
        for device in &mut self.devices {
            device.usage_mut().advance(now);
        }
    }

    /// Records how many arrays are degraded.
    pub fn record_degraded(&self, context: &mut Context) {
        let degraded = self.arrays.iter().filter(|array| !array.redundancy.is_optimal()).count();
        context.measures.degraded.set(context.events.now(), degraded as u64);
    }

    /// Records a transition of a disk.
    fn record_disk(&self, context: &mut Context, transition: Transition, place: Place, value: f64) {
        let name = format!("{}/{}", self[place.array].name, place.disk);
        context.record(transition, name, value);
    }

    /// `input` of a parity if computing that takes time, in the firmware or the XOR engine; none otherwise.
    #[inline]
    fn timed_parity(&self, context: &Context, input: Sectors) -> Sectors {
        let takes_time = self.xor_bandwidth.is_some() || context.firmware.has_parity_time();
        if takes_time { input } else { Sectors(0) }
    }

    /// Requests the firmware's time for the parity of `stripes`, and then the XOR engine for `time`; returns the end.
    fn compute_parity(&mut self, context: &mut Context, stripes: u64, time: SimDuration) -> SimTime {
        let prepared = context.firmware.claim_parity(context.now(), stripes);
        self.xor.claim(prepared, time)
    }

    /// Time that the XOR engine takes for `input`.
    #[inline]
    fn xor_time(&self, input: Sectors) -> SimDuration {
        self.xor_bandwidth.map_or(SimDuration::ZERO, |rate| rate.time_for(input.bytes()))
    }

    /// Counts the disk writes that a power cut tears; returns the number of stripes with parity whose destage it ends.
    pub fn count_torn_writes(&self, context: &mut Context) -> u64 {
        let counts = &mut context.measures.counts;
        let mut half_destaged = 0;
        let is_writing = |operation: &&ArrayOperation| {
            operation.kind == Kind::Write && operation.pending > 0 && operation.is_issued()
        };
        for array in &self.arrays {
            let has_parity = array.layout.level().parities() > 0;
            for operation in array.locks.holders(&self.operations).filter(is_writing) {
                counts.disk_writes_cut += u64::from(operation.pending);
                if let (true, Parent::Destage { .. }) = (has_parity, operation.parent) {
                    half_destaged += 1;
                } else {
                    counts.write_holes += u64::from(has_parity);
                }
            }
        }
        half_destaged
    }

    /// Power is cut: all operations end. What the drives lose from their own caches is counted.
    pub fn cut_power(&mut self, context: &mut Context) {
        let now = context.now();
        self.xor.cut(now);
        self.merging.cut_power();
        if let Some(back_end) = &mut self.back_end {
            back_end.cut_power(now);
        }
        let mut lost: Vec<(u32, Lba, Sectors)> = Vec::new();
        for (index, device) in (0..).zip(&mut self.devices) {
            device.lose_power(now, &mut |first, sectors| lost.push((index, first, sectors)));
        }
        context.measures.counts.disk_lost_sectors += lost.iter().map(|(.., sectors)| sectors.0).sum::<u64>();
        self.operations = Slab::default();
        self.planned = Slab::default();
        self.loads.fill(Load::default());
        for array in &mut self.arrays {
            array.cut_power(now);
        }
        context.probe.watch(|oracle| oracle.cut_run(&self.arrays, &self.places, &lost));
    }
}
