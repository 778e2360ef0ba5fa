//! The battery that protects dirty data.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::units::{Fraction, SimDuration};

const SECOND: u64 = 1_000_000_000;
const HOUR: u64 = 3600 * SECOND;

/// The battery or capacitor that protects dirty data. Charge changes linearly.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Battery {
    /// State at the start of the run.
    pub state: BatteryState,
    /// Use of the charge during a mains loss.
    pub kind: BatteryKind,
    /// Charge at the start of the run in state `charging`, as a share of full charge.
    pub charge: Fraction,
    /// Minimum charge for write-back (HP 4AA0-8805ENW: 79 %).
    pub threshold: Fraction,
    /// Write-back ends when the charge falls below the threshold by this amount.
    pub hysteresis: Fraction,
    /// Time from empty to full (HP 4AA0-8805ENW: up to four hours).
    pub charge_time: SimDuration,
    /// Time that a full charge lasts without mains (HP 4AA0-8805ENW: up to 72 hours); a partial charge lasts in proportion.
    #[schemars(extend("minimum" = 1))]
    pub holdup: SimDuration,
    /// Time to copy the cache to flash memory with kind `flash` (default: the time that the minimum charge for write-back lasts).
    pub copy_time: Option<SimDuration>,
    /// Time from full to empty in a learn cycle (Dell PERC 6: about three hours).
    #[schemars(extend("minimum" = 1))]
    pub learn_discharge_time: SimDuration,
    /// Period of learn cycles (Dell PERC 6: 90 days; default: none).
    #[schemars(extend("minimum" = SECOND))]
    pub learn_period: Option<SimDuration>,
    /// Whether to write back without protection; the data at risk are reported.
    pub allow_without_battery: bool,
}

impl Default for Battery {
    fn default() -> Self {
        Self {
            state: BatteryState::Absent,
            kind: BatteryKind::Battery,
            charge: Fraction(1.0),
            threshold: Fraction(0.79),
            hysteresis: Fraction(0.0),
            charge_time: SimDuration(4 * HOUR),
            holdup: SimDuration(72 * HOUR),
            copy_time: None,
            learn_discharge_time: SimDuration(3 * HOUR),
            learn_period: None,
            allow_without_battery: false,
        }
    }
}

/// State of the battery at the start of the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum BatteryState {
    /// Charged.
    Present,
    /// No battery.
    Absent,
    /// Charging: write-through until the charge reaches the threshold.
    Charging,
}

/// Use of the charge during a mains loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum BatteryKind {
    /// Powers the cache memory until the charge is used up.
    Battery,
    /// Powers a copy of the cache to flash memory, which keeps the data (FBWC: a capacitor for about 80 s).
    Flash,
}

impl Battery {
    /// Time of the copy to flash memory; `None` for other kinds.
    pub fn flash_copy_time(&self) -> Option<SimDuration> {
        (self.kind == BatteryKind::Flash).then(|| {
            let least = self.threshold.0 - self.hysteresis.0;
            self.copy_time.unwrap_or(SimDuration((self.holdup.0 as f64 * least) as u64))
        })
    }
}
