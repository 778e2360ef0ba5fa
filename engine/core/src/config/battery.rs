//! The battery that protects dirty data.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::units::{Fraction, SimDuration};

const SECOND: u64 = 1_000_000_000;
const HOUR: u64 = 3600 * SECOND;

/// The battery, or the capacitor of a flash-backed cache, that protects dirty data. Charge rises and falls linearly.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Battery {
    /// Whether there is one, and whether it is charged.
    pub state: BatteryState,
    /// What the charge does when the mains are lost.
    pub kind: BatteryKind,
    /// Charge at the start of the run where the state is `charging`, as a share of full.
    pub charge: Fraction,
    /// Write-back is allowed from this charge on (HP 4AA0-8805ENW: 79 %).
    pub threshold: Fraction,
    /// Write-back ends when the charge has fallen below the threshold by this much.
    pub hysteresis: Fraction,
    /// Time from empty to full (HP 4AA0-8805ENW: up to four hours).
    pub charge_time: SimDuration,
    /// How long a full charge lasts without mains (HP 4AA0-8805ENW: up to 72 hours); a partial charge lasts in proportion.
    #[schemars(extend("minimum" = 1))]
    pub holdup: SimDuration,
    /// Time to copy the cache to flash memory, where `kind` is `flash`; where it is not given, as long as the least charge with which write-back is allowed lasts.
    pub copy_time: Option<SimDuration>,
    /// Time from full to empty in a learn cycle (Dell PERC 6: about three hours).
    #[schemars(extend("minimum" = 1))]
    pub learn_discharge_time: SimDuration,
    /// A learn cycle begins each time that this has passed (Dell PERC 6: 90 days); none by itself where it is not given.
    #[schemars(extend("minimum" = SECOND))]
    pub learn_period: Option<SimDuration>,
    /// Write back without protection: faster, and the data at risk are counted.
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

/// What the charge does when the mains are lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum BatteryKind {
    /// It holds the cache memory until it is used up.
    Battery,
    /// It powers the copy of the cache to flash memory, which then keeps the data (FBWC: a capacitor of some 80 s).
    Flash,
}

impl Battery {
    /// How long the copy of the cache to flash memory takes; nothing where there is none.
    pub fn flash_copy_time(&self) -> Option<SimDuration> {
        (self.kind == BatteryKind::Flash).then(|| {
            let least = self.threshold.0 - self.hysteresis.0;
            self.copy_time.unwrap_or(SimDuration((self.holdup.0 as f64 * least) as u64))
        })
    }
}
