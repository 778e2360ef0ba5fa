//! The bounds of single fields, as the JSON Schema states them.
//!
//! Whoever starts a run is held to them, for a run that begins with a value outside may never end, or end in a panic.
//! The schema is the only place where they stand: `minimum`, `maximum`, `exclusiveMinimum`, `minItems`, `minLength`.

use std::sync::LazyLock;

use serde_json::Value;

use super::{Issue, Scenario, schema};

static SCHEMA: LazyLock<Value> = LazyLock::new(schema);

impl Scenario {
    /// The bounds that the configuration breaks.
    pub(super) fn check_bounds(&self, arrays_key: &str) -> Vec<Issue> {
        let mut issues = Vec::new();
        if let Ok(Value::Object(mut fields)) = serde_json::to_value(self) {
            if arrays_key == "array" {
                fields.remove("arrays");
            }
            check(&Value::Object(fields), &SCHEMA, "", &mut issues);
        }
        issues
    }
}

/// Notes what in `value` is outside the bounds that `node` of the schema states.
fn check(value: &Value, node: &Value, path: &str, issues: &mut Vec<Issue>) {
    // Bounds that stand beside a reference hold as well.
    check_number(value, node, path, issues);
    if let Some(name) = node.get("$ref").and_then(Value::as_str) {
        check(value, &SCHEMA["$defs"][name.trim_start_matches("#/$defs/")], path, issues);
    }
    for branch in branches(node).filter(|branch| is_of(branch, value)) {
        check(value, branch, path, issues);
    }
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                if let Some(below) = node["properties"].get(name) {
                    let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
                    check(value, below, &path, issues);
                }
            }
        }
        Value::Array(items) => {
            if node["minItems"].as_u64().is_some_and(|least| (items.len() as u64) < least) {
                issues.push(Issue::new(
                    path,
                    format!("{} entries; allowed is {} or more", items.len(), node["minItems"]),
                ));
            }
            for (index, value) in items.iter().enumerate() {
                check(value, &node["items"], &format!("{path}[{index}]"), issues);
            }
        }
        Value::String(text)
            if text.is_empty() && node["minLength"].as_u64().is_some_and(|least| least > 0) =>
        {
            issues.push(Issue::new(path, "is empty"));
        }
        _ => {}
    }
}

fn check_number(value: &Value, node: &Value, path: &str, issues: &mut Vec<Issue>) {
    let Some(number) = value.as_f64() else { return };
    let bound = |name: &str| node[name].as_f64();
    let (least, above, most) = (bound("minimum"), bound("exclusiveMinimum"), bound("maximum"));
    if least.is_some_and(|least| number < least)
        || above.is_some_and(|above| number <= above)
        || most.is_some_and(|most| number > most)
    {
        let allowed = match (least, above, most) {
            (Some(least), _, Some(most)) => format!("{least} to {most}"),
            (Some(least), _, None) => format!("{least} or more"),
            (None, Some(above), Some(most)) => format!("more than {above}, up to {most}"),
            (None, Some(above), None) => format!("more than {above}"),
            (None, None, most) => format!("at most {}", most.unwrap_or_default()),
        };
        let unit = node["x-unit"].as_str().filter(|unit| *unit != "fraction");
        let unit = unit.map_or_else(String::new, |unit| format!(" {}", unit.replace("_per_", "/")));
        issues.push(Issue::new(path, format!("{value}{unit}; allowed is {allowed}")));
    }
}

/// The branches of a union.
fn branches(node: &Value) -> impl Iterator<Item = &Value> {
    ["oneOf", "anyOf"].into_iter().filter_map(|name| node.get(name)?.as_array()).flatten()
}

/// Whether `value` is of this branch of a union: by its tag, or by the fields that the branch requires.
fn is_of(branch: &Value, value: &Value) -> bool {
    let Some(fields) = value.as_object() else { return !value.is_null() };
    let has_tag = match &branch["properties"]["kind"]["const"] {
        Value::Null => true,
        tag => fields.get("kind") == Some(tag),
    };
    let required = branch["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
    has_tag && required.into_iter().all(|name| fields.contains_key(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The paths of the issues of a small scenario after `change` from one text to another.
    fn paths(from: &str, to: &str) -> Vec<String> {
        let text = r#"{"workload": {"users": 1, "streams": [{"name": "s",
                "arrival": {"kind": "closed", "think_time": {"kind": "constant", "value": 1000}, "ios": 1},
                "operations": {"read_fraction": 0.5, "size": {"kind": "constant", "value": 4096}},
                "address": {"kind": "uniform", "footprint": 1048576,
                    "placement": {"kind": "scattered", "extent": 1048576}}}]},
            "array": {"raid": "0", "disks": 1, "stripe_unit": 65536, "disk": {"kind": "server", "servers": 1,
                "service": {"kind": "constant", "value": 1000}, "capacity": 10551296}},
            "run": {"window": {"requests": 1000}}}"#;
        assert!(text.contains(from), "{from}");
        let scenario = Scenario::from_json(&text.replace(from, to)).unwrap();
        scenario
            .normalise()
            .map_or_else(|issues| issues.into_iter().map(|issue| issue.path).collect(), |_| Vec::new())
    }

    #[test]
    fn a_value_that_no_run_survives_is_refused() {
        assert_eq!(paths("", ""), [""; 0]);
        assert_eq!(paths("\"users\": 1", "\"users\": 0"), ["workload.users"]);
        assert_eq!(paths("\"ios\": 1", "\"ios\": 0"), ["workload.streams[0].arrival.ios"]);
        assert_eq!(paths("\"servers\": 1", "\"servers\": 0"), ["array.disk.servers"]);
    }

    #[test]
    fn a_window_over_a_whole_input_that_never_ends_is_refused() {
        assert_eq!(paths("{\"requests\": 1000}", "\"whole\""), ["run.window"]);
    }

    #[test]
    fn scattered_extents_must_all_find_a_place() {
        // The array holds 161 stripe units: ten extents of 1 MiB and 64 KiB that belong to none.
        let footprint = |bytes: u64| paths("\"footprint\": 1048576", &format!("\"footprint\": {bytes}"));
        assert_eq!(footprint(10 << 20), [""; 0]);
        assert_eq!(footprint((10 << 20) + 65_536), ["workload.streams[0].address.footprint"]);
    }

    #[test]
    fn an_offset_beyond_all_numbers_is_refused() {
        let offset = format!("{{\"kind\": \"contiguous\", \"offset\": {}}}", u64::MAX - 511);
        assert_eq!(
            paths("{\"kind\": \"scattered\", \"extent\": 1048576}", &offset),
            ["workload.streams[0].address.placement.offset"]
        );
    }
}
