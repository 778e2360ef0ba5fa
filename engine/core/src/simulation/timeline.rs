//! The timeline of a run: every transition of its battery, mains, disks and rebuilds, and of its phases.

use crate::units::SimTime;

/// What changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transition {
    /// The measurement window began.
    WindowBegins,
    /// The measurement window ended.
    WindowEnds,
    /// A phase of the workload has begun.
    PhaseBegins,
    /// A phase of the workload has ended.
    PhaseEnds,
    /// The mains are lost; value: dirty data \[bytes\].
    MainsLost,
    /// The mains are back.
    MainsBack,
    /// The hosts start again.
    HostsBack,
    /// The battery charges; value: its charge.
    BatteryCharging,
    /// The battery's charge has reached the threshold; value: its charge.
    BatteryReady,
    /// The battery is full.
    BatteryCharged,
    /// The battery is being discharged; value: its charge.
    BatteryDischarging,
    /// The battery's charge has fallen below the threshold less the hysteresis; value: its charge.
    BatteryLow,
    /// The battery's charge is used up.
    BatteryEmpty,
    /// The battery has failed for good.
    BatteryFailed,
    /// A learn cycle has begun.
    LearnBegins,
    /// A learn cycle has ended, or was abandoned.
    LearnEnds,
    /// Write-back is allowed.
    WriteBackEnabled,
    /// Write-back has ended; value: dirty data that is to be drained \[bytes\].
    WriteBackDisabled,
    /// The write cache is empty after a drain; value: the dirty data at its start \[bytes\].
    Drained,
    /// The cache is in flash memory; value: dirty data \[bytes\].
    CacheCopied,
    /// Dirty data has survived a loss of mains; value: its amount \[bytes\].
    DirtyPreserved,
    /// A disk has failed.
    DiskFailed,
    /// A hot spare takes the place of a failed disk; value: spares that are left.
    SpareTaken,
    /// An array has lost a disk and continues without it.
    ArrayDegraded,
    /// All of an array is redundant again.
    ArrayOptimal,
    /// An array has lost more disks than it tolerates.
    ArrayFailed,
    /// The rebuild of a disk has started.
    RebuildStarted,
    /// Another tenth of a disk is rebuilt; value: the fraction that is done.
    RebuildProgress,
    /// The rebuild of a disk is over; value: the time that it took \[s\].
    RebuildDone,
    /// Dirty data is lost; value: its amount \[bytes\].
    DirtyLost,
}

impl Transition {
    /// The name that the timeline's column has.
    pub const fn name(self) -> &'static str {
        match self {
            Self::WindowBegins => "window_begins",
            Self::WindowEnds => "window_ends",
            Self::PhaseBegins => "phase_begins",
            Self::PhaseEnds => "phase_ends",
            Self::MainsLost => "mains_lost",
            Self::MainsBack => "mains_back",
            Self::HostsBack => "hosts_back",
            Self::BatteryCharging => "battery_charging",
            Self::BatteryReady => "battery_ready",
            Self::BatteryCharged => "battery_charged",
            Self::BatteryDischarging => "battery_discharging",
            Self::BatteryLow => "battery_low",
            Self::BatteryEmpty => "battery_empty",
            Self::BatteryFailed => "battery_failed",
            Self::LearnBegins => "learn_begins",
            Self::LearnEnds => "learn_ends",
            Self::WriteBackEnabled => "write_back_enabled",
            Self::WriteBackDisabled => "write_back_disabled",
            Self::Drained => "drained",
            Self::CacheCopied => "cache_copied",
            Self::DirtyPreserved => "dirty_preserved",
            Self::DiskFailed => "disk_failed",
            Self::SpareTaken => "spare_taken",
            Self::ArrayDegraded => "array_degraded",
            Self::ArrayOptimal => "array_optimal",
            Self::ArrayFailed => "array_failed",
            Self::RebuildStarted => "rebuild_started",
            Self::RebuildProgress => "rebuild_progress",
            Self::RebuildDone => "rebuild_done",
            Self::DirtyLost => "dirty_lost",
        }
    }
}

/// One transition of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// When it happened.
    pub at: SimTime,
    /// What changed.
    pub transition: Transition,
    /// What it happened to: an array, a disk as `array/index`, a phase; empty for the controller.
    pub subject: String,
    /// Its value; 0 if it has none.
    pub value: f64,
}

/// All transitions of a run, in order.
#[derive(Debug, Default)]
pub struct Timeline {
    entries: Vec<Entry>,
}

impl Timeline {
    /// Records that `transition` happened to `subject` at `at`.
    pub fn record(&mut self, at: SimTime, transition: Transition, subject: impl Into<String>, value: f64) {
        self.entries.push(Entry { at, transition, subject: subject.into(), value });
    }

    /// The transitions so far, in order.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }
}
