//! Mistakes that tests build in: each breaks a law, and the oracle has to find it.

/// A mistake that tests build into a run, to see that the oracle finds it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::simulation) enum Fault {
    /// A destage forgets its last extent.
    ForgottenExtent,
    /// A mistake of the write cache.
    WriteCache(crate::write_cache::Fault),
    /// The end of a write leaves fetches that began before it in force.
    StaleFetch,
    /// Writes without parity do not wait for those that they overlap.
    OverlappingWrites,
    /// A write is acknowledged before all of it is in the cache.
    EarlyAcknowledgement,
    /// A flush does not wait for the drain.
    FlushOverDirty,
    /// A write that stalled when write-back ended leaves what the cache has taken of it there.
    StalledInParts,
    /// A power cut forgets what was going.
    CutForgetsDestages,
    /// A loss of mains is taken to have outlasted the battery.
    EarlyLoss,
    /// A write to a row that has been rebuilt leaves out the new disk.
    ForgottenNewDisk,
    /// A degraded write leaves out the parity.
    ForgottenParity,
    /// A decoding read does not lock its stripe.
    UnlockedReconstruction,
    /// A rebuild does not lock the stripes that it rebuilds.
    UnlockedRebuild,
    /// An operation whose disk fails while it reads goes on with what it has.
    IgnoredFailure,
    /// What a write has to read is not planned again when it gets its stripe.
    OutdatedPlan,
    /// A flush does not reach the drives.
    UnflushedDrives,
    /// A destage is not forced.
    UnforcedDestage,
    /// A write around the cache is not forced although older dirty data give way to it.
    UnforcedSuccessor,
    /// What is rebuilt is not forced.
    UnforcedRebuild,
    /// A drive acknowledges a forced write from its cache.
    ForceInBuffer,
}
