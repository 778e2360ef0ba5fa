//! Claims: dirty sectors that a write around the cache will supersede.
//!
//! A write around the cache is newer than the dirty version of its sectors. Until it is on the media, the dirty version
//! is the newest one to read and the only one that survives a power cut, so it stays. Since the stripe is locked, it is
//! not destaged over the newer one:
//!
//! ```text
//!   dirty v1 ──── write around v2 is planned: claims v1 ──── v2 is on the media: v1 is dropped
//!                                  └─ a cached write v3 of the sector ends the claim: v3 stays dirty
//! ```
//!
//! Claims are few and short-lived, so a list is searched linearly.

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

    /// The sectors of `mask` have a newer version: claims on them end.
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

    /// Removes and returns a claim of `request` on `stripe`.
    pub fn take(&mut self, request: u32, stripe: u64) -> Option<Claim> {
        let index =
            self.claims.iter().position(|claim| claim.request == request && claim.stripe == stripe)?;
        Some(self.claims.swap_remove(index))
    }
}
