//! Mutations: deliberate defects of the model, which the tests and the validation have to detect.
//!
//! A release build has none: [`Mutant`] is then zero-sized and [`Mutant::strikes`] is always false. Tests build them in,
//! and so does the engine that `make validation` compiles with the feature `mutations`.

use serde::{Deserialize, Serialize};

/// A deliberate defect of the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mutation {
    /// One completed request in a hundred is not measured.
    UnmeasuredRequest,
    /// One I/O of a disk in a hundred is not counted.
    UncountedDiskIo,
    /// A stripe write of several disk writes omits the last: the second copy, or the last parity.
    LastWriteLeftOut,
    /// A stripe write omits the last of its reads: the old parity in a read-modify-write.
    LastReadLeftOut,
    /// Three read cache hits in a hundred are treated as misses.
    UnseenLine,
    /// Three write hits in a hundred are not counted as hits.
    UnseenWriteHit,
    /// A destage omits its last extent.
    ForgottenExtent,
    /// The write cache drops writes to lines that are being destaged.
    LostSecondVersion,
    /// A write around the cache leaves older dirty sectors in the cache.
    StaleDirty,
    /// A write around the cache drops dirty sectors that were written after it.
    GreedyClaim,
    /// A stripe destaged by age loses its last sector.
    LostWithAge,
    /// A write around the cache leaves older clean sectors readable.
    StaleClean,
    /// The end of a write does not invalidate fetches that began before it.
    StaleFetch,
    /// Writes without parity do not wait for overlapping writes.
    OverlappingWrites,
    /// A write is acknowledged before the cache holds all of it.
    EarlyAcknowledgement,
    /// A flush does not wait for the drain.
    FlushOverDirty,
    /// When write-back ends, a stalled write leaves its accepted part in the cache.
    StalledInParts,
    /// A power cut loses the lines that are being destaged.
    CutForgetsDestages,
    /// Dirty data is lost although the battery held it.
    EarlyLoss,
    /// A write to a rebuilt row omits the new disk.
    ForgottenNewDisk,
    /// A degraded write omits the parity.
    ForgottenParity,
    /// A read that decodes missing data does not lock its stripe.
    UnlockedReconstruction,
    /// A rebuild does not lock the stripes that it rebuilds.
    UnlockedRebuild,
    /// An operation continues with incomplete data when its disk fails during a read.
    IgnoredFailure,
    /// The reads of a write are not planned again when it acquires its stripe.
    OutdatedPlan,
    /// A flush does not reach the drives.
    UnflushedDrives,
    /// Destages are not forced to the media.
    UnforcedDestage,
    /// A write around the cache that replaces dirty data is not forced to the media.
    UnforcedSuccessor,
    /// Rebuild writes are not forced to the media.
    UnforcedRebuild,
    /// A drive acknowledges a forced write from its cache.
    ForceInBuffer,
}

/// The mutation built into a model, if any.
#[derive(Clone, Debug, Default)]
pub struct Mutant {
    #[cfg(any(test, feature = "mutations"))]
    active: Option<(Mutation, std::cell::Cell<u64>)>,
}

#[cfg(any(test, feature = "mutations"))]
impl Mutant {
    /// A model with `mutation`.
    pub const fn new(mutation: Mutation) -> Self {
        Self { active: Some((mutation, std::cell::Cell::new(0))) }
    }

    /// Whether `mutation` is built in.
    pub fn has(&self, mutation: Mutation) -> bool {
        self.active.as_ref().is_some_and(|(active, _)| *active == mutation)
    }

    /// Whether `mutation` is built in and strikes on this occasion: one in its period.
    pub fn strikes(&self, mutation: Mutation) -> bool {
        let Some((active, occasions)) = &self.active else { return false };
        if *active != mutation {
            return false;
        }
        occasions.update(|count| count + 1);
        occasions.get().is_multiple_of(mutation.period())
    }
}

#[cfg(not(any(test, feature = "mutations")))]
#[expect(clippy::unused_self, reason = "only a build with mutations has one")]
impl Mutant {
    /// Whether `mutation` is built in: never.
    #[inline]
    pub const fn has(&self, _: Mutation) -> bool {
        false
    }

    /// Whether `mutation` strikes on this occasion: never.
    #[inline]
    pub const fn strikes(&self, _: Mutation) -> bool {
        false
    }
}

#[cfg(any(test, feature = "mutations"))]
impl Mutation {
    /// Occasions per strike.
    pub const fn period(self) -> u64 {
        match self {
            Self::UnmeasuredRequest | Self::UncountedDiskIo => 100,
            Self::UnseenLine | Self::UnseenWriteHit => 33,
            _ => 1,
        }
    }
}
