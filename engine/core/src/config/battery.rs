//! The battery that protects dirty data.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Issue;
use super::check::check_fraction;
use crate::units::{Fraction, SimDuration};

/// The battery that protects dirty data. Charge rises linearly from empty to full in `charge_time`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Battery {
    /// Whether there is one, and whether it is charged.
    pub state: BatteryState,
    /// Charge at the start of the run where the state is `charging`, as a share of full.
    pub charge: Fraction,
    /// Write-back is allowed from this charge on (HP 4AA0-8805ENW: 79 %).
    pub threshold: Fraction,
    /// Time from empty to full (HP 4AA0-8805ENW: up to four hours).
    pub charge_time: SimDuration,
    /// Write back without protection: faster, and the data at risk are counted.
    pub allow_without_battery: bool,
}

impl Default for Battery {
    fn default() -> Self {
        Self {
            state: BatteryState::Absent,
            charge: Fraction(1.0),
            threshold: Fraction(0.79),
            charge_time: SimDuration(4 * 3600 * 1_000_000_000),
            allow_without_battery: false,
        }
    }
}

/// Whether there is a battery, and whether it is charged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum BatteryState {
    /// Fitted and charged.
    Present,
    /// Not fitted.
    Absent,
    /// Fitted and charging: write-through until the charge reaches the threshold.
    Charging,
}

impl Battery {
    /// Notes the rules that it breaks.
    pub(super) fn check(&self, path: &str, issues: &mut Vec<Issue>) {
        check_fraction(&format!("{path}.charge"), self.charge, issues);
        check_fraction(&format!("{path}.threshold"), self.threshold, issues);
    }
}
