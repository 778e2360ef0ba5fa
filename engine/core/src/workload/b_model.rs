//! Self-similar arrivals: the b-model.
//!
//! The arrivals that a window expects are a measure that falls on its two halves as b to 1 - b, which half gets b being a
//! fair coin's choice, on the halves of these in the same way, and so on for some levels; within a slot of the last level,
//! and given the measure, arrivals are a Poisson process. Over slots of the j-th level the measure M has
//! E\[M^2\] = V^2 ((b^2 + (1 - b)^2) / 2)^j, V being that of the window, so that the counts have the variance
//! E\[M\] + E\[M^2\] - E\[M\]^2, and the slope over the levels gives the Hurst parameter (1 - log2(b^2 + (1 - b)^2)) / 2.
//! Not for burstiness beyond the window: every window has the same measure.
//!
//! Wang, Madhyastha, Chan, Papadimitriou, Faloutsos: Data mining meets performance evaluation: fast algorithms for
//! modeling bursty traffic, ICDE 2002.

use crate::rng::Stream;
use crate::units::SimDuration;

/// A part of a window that is still to come.
#[derive(Clone, Copy, Debug)]
struct Part {
    /// Arrivals that are expected in it.
    measure: f64,
    /// Its length \[ns\].
    length: f64,
    level: u32,
}

/// The process. The cascade is worked out from left to right, only where an arrival falls: at most one part of each
/// level is kept.
#[derive(Clone, Debug)]
pub struct BModel {
    bias: f64,
    levels: u32,
    window: Part,
    /// What of the current window is still to come; the next part is the last.
    parts: Vec<Part>,
}

impl BModel {
    /// The process of mean rate `rate` \[1/s\] whose windows are halved `levels` times.
    pub fn new(rate: f64, bias: f64, window: SimDuration, levels: u32) -> Self {
        let length = window.0 as f64;
        let window = Part { measure: rate * length * 1e-9, length, level: 0 };
        Self { bias, levels, window, parts: Vec::with_capacity(levels as usize + 2) }
    }

    /// The time until the next arrival.
    pub fn gap(&mut self, stream: &mut Stream) -> SimDuration {
        // Arrivals are a Poisson process of rate 1 in the measure.
        let mut to_go = stream.exponential();
        let mut passed = 0.0;
        loop {
            let Some(part) = self.parts.pop() else {
                let whole = (to_go / self.window.measure) as u64 as f64;
                to_go = (to_go - whole * self.window.measure).max(0.0);
                passed += whole * self.window.length;
                self.parts.push(self.window);
                continue;
            };
            if to_go >= part.measure {
                to_go -= part.measure;
                passed += part.length;
            } else if part.level == self.levels {
                let share = to_go / part.measure;
                let rest = 1.0 - share;
                passed += share * part.length;
                self.parts.push(Part {
                    measure: part.measure * rest,
                    length: part.length * rest,
                    level: part.level,
                });
                return SimDuration((passed + 0.5) as u64);
            } else {
                let left = if stream.bits() >> 63 == 0 { self.bias } else { 1.0 - self.bias };
                let half = |share: f64| Part {
                    measure: part.measure * share,
                    length: part.length * 0.5,
                    level: part.level + 1,
                };
                self.parts.extend([half(1.0 - left), half(left)]);
            }
        }
    }
}
