//! Student's t distribution for a whole number of degrees of freedom.

use std::f64::consts::{FRAC_2_PI, FRAC_PI_2};

/// The t such that a Student variable with `degrees` degrees of freedom is within -t to t with probability
/// `level`. Precondition: 0 < `level` < 1 and `degrees` >= 1.
pub fn two_sided(level: f64, degrees: u32) -> f64 {
    // In terms of the angle atan(t / sqrt(degrees)), the probability is a finite sum, and a bisection needs no bracket.
    let (mut low, mut high) = (0.0, FRAC_PI_2);
    for _ in 0..60 {
        let middle = f64::midpoint(low, high);
        if probability(middle, degrees) < level {
            low = middle;
        } else {
            high = middle;
        }
    }
    f64::from(degrees).sqrt() * libm::tan(f64::midpoint(low, high))
}

/// P(|T| <= sqrt(degrees) tan(angle)): Abramowitz and Stegun, Handbook of Mathematical Functions, 26.7.3 and 26.7.4.
fn probability(angle: f64, degrees: u32) -> f64 {
    let (sine, cosine) = (libm::sin(angle), libm::cos(angle));
    let is_odd = degrees % 2 == 1;
    // Terms in cos^j for j = 1, 3, .. or 0, 2, .. up to degrees - 2, each (j - 1) / j cos^2 times the one before.
    let (mut power, mut term) = if is_odd { (1, cosine) } else { (0, 1.0) };
    let mut sum = 0.0;
    while power + 2 <= degrees {
        sum += term;
        power += 2;
        term *= cosine * cosine * f64::from(power - 1) / f64::from(power);
    }
    if is_odd { FRAC_2_PI * (angle + sine * sum) } else { sine * sum }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_agree_with_tables() {
        let table = [
            (0.95, 1, 12.706_205),
            (0.95, 2, 4.302_653),
            (0.95, 3, 3.182_446),
            (0.95, 4, 2.776_445),
            (0.95, 9, 2.262_157),
            (0.95, 30, 2.042_272),
            (0.95, 63, 1.998_341),
            (0.99, 10, 3.169_273),
            (0.99, 31, 2.744_042),
            (0.90, 60, 1.670_649),
            (0.50, 1, 1.0),
        ];
        for (level, degrees, expected) in table {
            let measured = two_sided(level, degrees);
            assert!((measured - expected).abs() < 1e-6 * expected, "{level} {degrees}: {measured}");
        }
    }
}
