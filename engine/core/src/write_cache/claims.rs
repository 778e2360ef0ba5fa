//! Claims: dirty sectors that a write straight to the disks is about to supersede.
//!
//! A write that goes around the cache is newer than what is dirty of the same sectors, but until it is on the media the
//! dirty version is the newest that can be read, and the only one that survives a power cut. So it stays; and because the
//! stripe is locked it is not destaged over the newer one:
//!
//! ```text
//!   dirty v1 ──── write around v2 is planned: claims v1 ──── v2 is on the media: v1 is dropped
//!                                  └─ a cached write v3 of the sector meanwhile ends the claim: v3 stays dirty
//! ```
//!
//! Claims are few and short-lived: a list is searched from end to end.

/// Dirty sectors of one line that one write claims.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Claim {
    pub request: u32,
    pub stripe: u64,
    pub key: u64,
    pub mask: u64,
}

/// All claims.
#[derive(Debug, Default)]
pub(super) struct Claims {
    claims: Vec<Claim>,
}

impl Claims {
    #[inline]
    pub const fn is_empty(&self) -> bool {
        self.claims.is_empty()
    }

    /// Drops all claims.
    pub fn clear(&mut self) {
        self.claims.clear();
    }

    pub fn add(&mut self, claim: Claim) {
        self.claims.push(claim);
    }

    /// The sectors of `mask` have a newer version: whatever claims them claims them no longer.
    pub fn end(&mut self, key: u64, mask: u64) {
        for claim in &mut self.claims {
            if claim.key == key {
                claim.mask &= !mask;
            }
        }
        self.claims.retain(|claim| claim.mask != 0);
    }

    /// Whether there is a claim of `request` on `stripe`.
    pub fn has(&self, request: u32, stripe: u64) -> bool {
        self.claims.iter().any(|claim| claim.request == request && claim.stripe == stripe)
    }

    /// Takes out a claim of `request` on `stripe`.
    pub fn take(&mut self, request: u32, stripe: u64) -> Option<Claim> {
        let index =
            self.claims.iter().position(|claim| claim.request == request && claim.stripe == stripe)?;
        Some(self.claims.swap_remove(index))
    }
}
