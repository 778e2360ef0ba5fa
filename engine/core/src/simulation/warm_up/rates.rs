//! The rate of a source as far as it is known before the run: its share of the requests of the functional warm-up.

use crate::config::{Arrival, Distribution, Order, Step, Stream};

/// Response time of a request that nothing is known of yet \[s\]: between that of a cache and that of a disk. It decides
/// only how streams whose rate depends on it share the warm-up with others.
const RESPONSE: f64 = 0.002;

/// Mean of a distribution of times \[s\].
fn mean(times: Distribution) -> f64 {
    match times {
        Distribution::Constant { value: mean }
        | Distribution::Exponential { mean }
        | Distribution::Lognormal { mean, .. } => mean.as_secs_f64(),
        Distribution::Uniform { low, high } => f64::midpoint(low.as_secs_f64(), high.as_secs_f64()),
    }
}

/// Requests of one source of `stream` per second at intensity 1.
pub(super) fn rate(stream: &Stream) -> f64 {
    match stream.arrival {
        Arrival::Closed { think_time, ios, depth, order, .. } => {
            let rounds = |ios: u32, width: u32| f64::from(ios.div_ceil(width));
            let width = |order, ios: u32| if order == Order::Parallel { ios } else { 1 };
            let steps = stream.steps.iter().flatten().filter_map(|step| match *step {
                Step::Io { ios, order, .. } => Some((ios, rounds(ios, width(order, ios)))),
                Step::Flush => None,
            });
            let (of_steps, rounds_of_steps) =
                steps.fold((0, 0.0), |sum, step| (sum.0 + step.0, sum.1 + step.1));
            let (ios, rounds) = if of_steps > 0 {
                (of_steps, rounds_of_steps)
            } else {
                (ios, rounds(ios, depth.unwrap_or_else(|| width(order, ios)).min(ios)))
            };
            f64::from(ios) / (mean(think_time) + rounds * RESPONSE)
        }
        Arrival::FixedOutstanding { depth, .. } => f64::from(depth) / RESPONSE,
        Arrival::Poisson { rate, .. }
        | Arrival::Constant { rate, .. }
        | Arrival::Mmpp { rate, .. }
        | Arrival::BModel { rate, .. } => rate.0,
        Arrival::Trace { .. } => 0.0,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn rates_are_those_that_a_hand_finds() {
        let io = |ios: u32, order: &str| {
            json!({"kind": "io", "ios": ios, "order": order,
                "operations": {"read_fraction": 0.5, "size": {"kind": "constant", "value": 4096}},
                "address": {"kind": "uniform"}})
        };
        let closed = |rest: serde_json::Value| {
            let mut arrival = json!({"kind": "closed", "think_time": {"kind": "uniform", "low": 10_000_000, "high": 26_000_000}});
            arrival.as_object_mut().unwrap().extend(rest.as_object().unwrap().clone());
            arrival
        };
        // A think time of 18 ms, and 2 ms for each round of I/Os.
        for (arrival, steps, expected) in [
            (json!({"kind": "poisson", "rate": 75.0}), None, 75.0),
            (json!({"kind": "fixed_outstanding", "depth": 6}), None, 3_000.0),
            (closed(json!({})), None, 1.0 / 0.020),
            (closed(json!({"ios": 4})), None, 4.0 / 0.026),
            (closed(json!({"ios": 4, "order": "parallel"})), None, 4.0 / 0.020),
            (closed(json!({"ios": 4, "order": "parallel", "depth": 3})), None, 4.0 / 0.022),
            (
                closed(json!({})),
                Some(json!([io(3, "serial"), {"kind": "flush"}, io(5, "parallel")])),
                8.0 / 0.026,
            ),
        ] {
            let stream: Stream =
                serde_json::from_value(json!({"name": "s", "arrival": arrival, "steps": steps})).unwrap();
            assert!((rate(&stream) / expected - 1.0).abs() < 1e-9, "{arrival}: {} {expected}", rate(&stream));
        }
    }
}
