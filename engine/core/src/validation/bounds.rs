//! The bounds of single fields, which the JSON Schema alone defines: `minimum`, `maximum`, `exclusiveMinimum`,
//! `minItems`, `minLength`.
//!
//! The engine checks them itself, since a value out of range could make a run panic or never end.

use std::sync::LazyLock;

use serde_json::Value;

use crate::config::{Scenario, schema};
use crate::issue::Issue;

static SCHEMA: LazyLock<Value> = LazyLock::new(schema);

/// Whether top-level fields of a configuration are within their bounds.
pub fn is_within_bounds(fields: &Value) -> bool {
    let mut issues = Vec::new();
    check(fields, &SCHEMA, "", &mut issues);
    issues.is_empty()
}

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

/// Checks `value` at `place` against the bounds of `node` of the schema.
fn check(value: &Value, node: &Value, place: &str, issues: &mut Vec<Issue>) {
    // A node may have both bounds and a reference.
    check_number(value, node, place, issues);
    if let Some(name) = node.get("$ref").and_then(Value::as_str) {
        check(value, &SCHEMA["$defs"][name.trim_start_matches("#/$defs/")], place, issues);
    }
    for branch in branches(node).filter(|branch| is_of(branch, value)) {
        check(value, branch, place, issues);
    }
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                if let Some(below) = node["properties"].get(name) {
                    let place = if place.is_empty() { name.clone() } else { format!("{place}.{name}") };
                    check(value, below, &place, issues);
                }
            }
        }
        Value::Array(items) => {
            if node["minItems"].as_u64().is_some_and(|least| (items.len() as u64) < least) {
                issues.push(Issue::new(
                    "scenario.too-few",
                    place,
                    format!("{} entries; allowed is {} or more", items.len(), node["minItems"]),
                ));
            }
            for (index, value) in items.iter().enumerate() {
                check(value, &node["items"], &format!("{place}.{index}"), issues);
            }
        }
        Value::String(text)
            if text.is_empty() && node["minLength"].as_u64().is_some_and(|least| least > 0) =>
        {
            issues.push(Issue::new(
                "scenario.empty",
                place,
                "empty; allowed is a text of one character or more",
            ));
        }
        _ => {}
    }
}

fn check_number(value: &Value, node: &Value, place: &str, issues: &mut Vec<Issue>) {
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
        issues.push(Issue::new(
            "scenario.out-of-range",
            place,
            format!("{value}{unit}; allowed is {allowed}"),
        ));
    }
}

/// The branches of a union.
fn branches(node: &Value) -> impl Iterator<Item = &Value> {
    ["oneOf", "anyOf"].into_iter().filter_map(|name| node.get(name)?.as_array()).flatten()
}

/// Whether `value` belongs to this branch of a union, by its tag or by the fields that the branch requires.
fn is_of(branch: &Value, value: &Value) -> bool {
    let Some(fields) = value.as_object() else { return !value.is_null() };
    let has_tag = match &branch["properties"]["kind"]["const"] {
        Value::Null => true,
        tag => fields.get("kind") == Some(tag),
    };
    let required = branch["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
    has_tag && required.into_iter().all(|name| fields.contains_key(name))
}
