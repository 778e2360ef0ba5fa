//! Random streams of requests, with every feature of a workload.

use proptest::prelude::*;
use serde_json::{Map, Value, json};

/// Sizes of requests \[sectors\].
const SIZES: [&[u64]; 3] = [&[1, 8], &[3, 4, 7, 16], &[8, 32]];

/// The timeline; no stream need keep to it.
pub(super) fn phases() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(json!([{"name": "storm", "lasts": 300_000_000}, {"name": "work", "lasts": 2_000_000_000},
            {"name": "backup"}])),
        Just(json!([{"name": "storm", "lasts": 1_000_000_000}, {"name": "work", "lasts": 1_000_000_000},
            {"name": "backup", "lasts": 500_000_000}])),
    ]
}

/// What is measured.
pub(super) fn window() -> impl Strategy<Value = Value> {
    prop_oneof![5 => Just(json!({"requests": 400})), 1 => Just(json!({"phase": "work"}))]
}

fn arrival() -> impl Strategy<Value = Value> {
    let think = json!({"kind": "exponential", "mean": 10_000_000});
    let open = (20.0..200.0, any::<bool>(), 0..4_u32).prop_map(|(rate, per_user, kind)| match kind {
        0 => json!({"kind": "poisson", "rate": rate, "per_user": per_user}),
        1 => json!({"kind": "constant", "rate": rate, "per_user": per_user}),
        2 => json!({"kind": "mmpp", "rate": rate, "burst_factor": 4.0, "burst_fraction": 0.25,
            "burst_time": 50_000_000, "per_user": per_user}),
        _ => json!({"kind": "b_model", "rate": rate, "bias": 0.7, "window": 1_000_000_000, "levels": 8,
            "per_user": per_user}),
    });
    prop_oneof![
        2 => (1_u32..12, any::<bool>()).prop_map(|(depth, per_user)| {
            json!({"kind": "fixed_outstanding", "depth": depth, "per_user": per_user && depth < 4})
        }),
        2 => (1_u32..9, any::<bool>(), prop::option::of(1_u32..4), prop::option::of(1_u32..60)).prop_map(
            move |(ios, parallel, depth, times)| {
                let order = if parallel { "parallel" } else { "serial" };
                let depth = depth.filter(|_| parallel);
                json!({"kind": "closed", "think_time": think, "ios": ios, "order": order, "depth": depth,
                    "times": times.filter(|times| times % 3 == 0)})
            }
        ),
        2 => open,
    ]
}

fn address() -> impl Strategy<Value = Value> {
    let footprint = prop_oneof![Just(32_u64), Just(64), Just(256)];
    (footprint, 0..18_u32, prop::bool::weighted(0.2)).prop_map(|(footprint, kind, per_user)| {
        let footprint = footprint << 10;
        let mut address = match kind {
            0 => json!({"kind": "zipf", "exponent": 1.2, "block": 16_384}),
            1 => json!({"kind": "sequential"}),
            2 => json!({"kind": "sequential", "jump_fraction": 0.2}),
            3 => json!({"kind": "strided", "stride": 24_576}),
            4 => json!({"kind": "hot_cold", "hot_fraction": 0.5, "access_fraction": 0.9}),
            5 => json!({"kind": "zoned", "zones": [{"size": 1.0, "accesses": 0.0}, {"size": 1.0, "accesses": 3.0}]}),
            6 => json!({"kind": "pareto", "hot_fraction": 0.2, "block": 16_384}),
            7 => json!({"kind": "stack_distance", "block": 16_384, "curve": [
                {"size": 16_384, "hit_ratio": 0.5}, {"size": 32_768, "hit_ratio": 0.8}]}),
            8 => json!({"kind": "sequential", "common": true}),
            9 => json!({"kind": "hierarchical_reuse", "leaf": 16_384, "block": 16_384, "levels": 1}),
            14 => json!({"kind": "uniform", "sampling": "cyclic"}),
            15 => json!({"kind": "normal", "width": 0.1, "block": 4096}),
            16 => json!({"kind": "strided_zones", "zone": 16_384, "skip": 4096, "sampling": "cyclic"}),
            _ => json!({"kind": "uniform"}),
        };
        address["footprint"] = json!(footprint);
        if kind != 8 {
            address["per_user"] = json!(per_user);
        }
        address
    })
}

fn operations() -> impl Strategy<Value = Value> {
    let shares = prop_oneof![Just(0.0), Just(0.3)];
    (0.0..0.9, (shares.clone(), shares), prop::option::of(1_u32..9), (0..3_usize, 0..6_usize), any::<bool>())
        .prop_map(|(reads, (forced, rewritten), flush, (sizes, writes), aligned)| {
            let size = |choice: &[u64]| -> Value {
                let options: Vec<_> =
                    choice.iter().map(|sectors| json!({"value": sectors * 512, "weight": 1.0})).collect();
                json!({"kind": "choice", "options": options})
            };
            json!({"read_fraction": reads, "fua_fraction": forced, "flush_every": flush,
                "rewrite_fraction": rewritten, "size": size(SIZES[sizes]),
                "write_size": SIZES.get(writes).map(|choice| size(choice)),
                "alignment": if aligned { Value::Null } else { json!(512) }})
        })
}

/// What the requests are: of one kind, a mixture, or the steps of an interaction.
fn content() -> impl Strategy<Value = Map<String, Value>> {
    let kind = || (operations(), address());
    (kind(), kind(), 0..6_u32, 1_u32..4).prop_map(|((first, there), (second, elsewhere), form, ios)| {
        let content = match form {
            0 => json!({"mix": [{"weight": 2.0, "operations": first, "address": there},
                {"weight": 1.0, "operations": second, "address": elsewhere}]}),
            1 => json!({"steps": [
                {"kind": "io", "ios": ios, "order": "parallel", "operations": first, "address": there},
                {"kind": "flush"},
                {"kind": "io", "operations": second, "address": elsewhere}]}),
            _ => json!({"operations": first, "address": there}),
        };
        content.as_object().cloned().unwrap_or_default()
    })
}

/// The processors that all streams may use.
pub(super) fn host() -> impl Strategy<Value = Value> {
    (1_u32..4, any::<bool>()).prop_map(
        |(cores, shared)| json!({"cores": cores, "scheduling": if shared { "shared" } else { "fcfs" }}),
    )
}

/// The processor time of an interaction; none for most streams.
fn processor_time() -> impl Strategy<Value = Value> {
    prop_oneof![
        3 => Just(Value::Null),
        1 => Just(json!({"kind": "exponential", "mean": 2_000_000})),
        1 => Just(json!({"kind": "uniform", "low": 0, "high": 3})),
    ]
}

/// When the stream runs.
fn pace() -> impl Strategy<Value = Map<String, Value>> {
    (0..6_u32, 0.0..2.0).prop_map(|(form, intensity)| {
        let pace = match form {
            0 => json!({"start": {"after": 10_000_000, "spread": 500_000_000}}),
            1 => json!({"start": {"spread": 200_000_000}, "lasts": 3_000_000_000_u64}),
            2 => json!({"active": [{"phase": "work", "intensity": intensity},
                {"phase": "storm", "intensity": 0.0, "ramp_to": intensity}]}),
            _ => json!({}),
        };
        pace.as_object().cloned().unwrap_or_default()
    })
}

/// A stream to an array.
pub(super) fn stream(name: &'static str, array: &'static str) -> impl Strategy<Value = Value> {
    (arrival(), content(), pace(), processor_time()).prop_map(move |(mut arrival, content, pace, time)| {
        if content.contains_key("steps") {
            arrival = json!({"kind": "closed", "think_time": {"kind": "constant", "value": 3_000_000}});
        }
        let mut stream = json!({"name": name, "array": array, "arrival": arrival, "processor_time": time});
        if let Some(fields) = stream.as_object_mut() {
            fields.extend(content);
            fields.extend(pace);
            // A fixed number of outstanding I/Os has no intensity.
            let has_rate = fields["arrival"]["kind"] != "fixed_outstanding";
            if !has_rate && fields.contains_key("active") {
                fields.insert("active".to_owned(), json!([{"phase": "work"}]));
            }
        }
        stream
    })
}
