//! How random addresses are drawn from a range.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How random addresses are drawn from a range.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Sampling {
    /// Each address independently of those before.
    #[default]
    Independent,
    /// Pass after pass over the range: within a pass no address comes twice, and each pass has its own random order. As in fio's random map, an address that has come is replaced by the next that has not, and a request ends where data begins that the pass has accessed. Each source needs a bit of memory per address.
    WithoutReplacement,
    /// Each place once per pass, in a random order that is the same in every pass (fio's `random_generator=lfsr`).
    Cyclic,
}

impl Sampling {
    /// Whether it is the default.
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "the form that serde asks for")]
    pub(super) const fn is_independent(&self) -> bool {
        matches!(self, Self::Independent)
    }
}
