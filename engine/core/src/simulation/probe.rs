//! The probe: verification of a run, compiled to nothing in a release build.
//!
//! It carries the oracle, which watches every sector of a run in debug builds, and the mutation that a test or the
//! validation has built into the model (see [`Mutant`]). The simulation calls it unconditionally; only this module and
//! [`crate::mutation`] know which builds verify.

#[cfg(any(test, feature = "mutations"))]
mod mutant;
#[cfg_attr(not(debug_assertions), allow(dead_code, reason = "release builds construct no oracle"))]
pub(super) mod oracle;

use super::array_set::array_state::ArrayState;
use super::array_set::operation::PlannedIo;
use super::array_set::redundancy::MemberState;
use super::array_set::stripe_write::StripeWrite;
use crate::mutation::{Mutant, Mutation};
use crate::read_cache::ReadCache;
use crate::write_cache::Extent;
use oracle::Oracle;

#[cfg(any(test, feature = "mutations"))]
pub use mutant::simulate_mutant;

/// Verification of a run.
#[derive(Debug, Default)]
pub struct Probe {
    #[cfg(debug_assertions)]
    pub(super) oracle: Oracle,
    mutant: Mutant,
}

#[cfg(debug_assertions)]
impl Probe {
    /// Reports to the oracle.
    #[inline]
    pub fn watch(&mut self, report: impl FnOnce(&mut Oracle)) {
        report(&mut self.oracle);
    }
}

#[cfg(not(debug_assertions))]
impl Probe {
    /// Does nothing: a release build has no oracle.
    #[expect(clippy::unused_self, reason = "only a debug build has an oracle")]
    #[inline]
    pub fn watch(&mut self, _: impl FnOnce(&mut Oracle)) {}
}

impl Probe {
    /// Whether `mutation` is built in.
    #[inline]
    pub fn has(&self, mutation: Mutation) -> bool {
        self.mutant.has(mutation)
    }

    /// Whether `mutation` is built in and strikes on this occasion.
    #[inline]
    pub fn strikes(&self, mutation: Mutation) -> bool {
        self.mutant.strikes(mutation)
    }

    /// Applies mutations to a planned stripe write.
    #[inline]
    pub fn mutate_stripe_write(&self, write: &mut StripeWrite) {
        if self.has(Mutation::LastWriteLeftOut) && write.writes.len() > 1 {
            write.writes.pop();
        }
        if self.has(Mutation::LastReadLeftOut) {
            write.reads.pop();
        }
    }

    /// Applies mutations to the extents of a destage that starts, by age or not.
    #[inline]
    pub fn mutate_destage(&self, extents: &mut Vec<Extent>, is_by_age: bool) {
        if self.has(Mutation::ForgottenExtent) && extents.len() > 1 {
            extents.pop();
        }
        if self.has(Mutation::LostWithAge)
            && is_by_age
            && let Some(last) = extents.last_mut().filter(|last| last.sectors.0 > 1)
        {
            last.sectors.0 -= 1;
        }
    }

    /// Applies mutations to the read cache before `line` is looked up.
    #[inline]
    pub fn mutate_read_cache(&self, cache: Option<&mut ReadCache>, array: u16, line: u64) {
        if self.has(Mutation::UnseenLine)
            && let Some(cache) = cache.filter(|cache| cache.has(array, line))
            && self.strikes(Mutation::UnseenLine)
        {
            cache.invalidate(array, line);
        }
    }

    /// Whether a mutation omits `write`, of a stripe that `state` holds.
    #[inline]
    pub fn omits(&self, state: &ArrayState, write: &PlannedIo) -> bool {
        let member = &state.redundancy.members[write.disk as usize];
        let layout = &state.layout;
        let stripe = || layout.stripe_on(write.disk, write.io.lba.0 / layout.stripe_unit().0);
        (self.has(Mutation::ForgottenNewDisk) && matches!(member.state, MemberState::Rebuilding(_)))
            || (self.has(Mutation::ForgottenParity) && layout.index_on(stripe(), write.disk).is_none())
    }
}
