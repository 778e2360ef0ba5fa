//! Changes to a scenario, drawn from its JSON Schema.

use serde_json::{Map, Value, json};

use crate::rng::RandomStream;

/// Deepest nesting of what is drawn.
const DEEPEST: u32 = 8;

/// Changes scenarios at random places.
pub struct Mutator<'a> {
    schema: &'a Value,
    draws: RandomStream,
}

/// One place of a document: its JSON pointer and its schema.
type Place<'a> = (String, &'a Value);

impl<'a> Mutator<'a> {
    pub fn new(schema: &'a Value, draws: RandomStream) -> Self {
        Self { schema, draws }
    }

    /// Changes `document` at one to five places.
    pub fn change(&mut self, document: &mut Value) {
        for _ in 0..=self.below(5) {
            let mut places = Vec::new();
            self.collect(document, self.schema, "", &mut places);
            if places.is_empty() {
                return;
            }
            let (pointer, node) = places.swap_remove(self.below(places.len()));
            let Some((holder, key)) = pointer.rsplit_once('/') else { continue };
            let (holder, key) = (holder.to_owned(), key.to_owned());
            let value = if self.below(8) == 0 { self.nonsense() } else { self.draw(node, 0) };
            let action = self.below(12);
            match document.pointer_mut(&holder) {
                Some(Value::Object(fields)) => match action {
                    0 => drop(fields.remove(&key)),
                    1 => drop(fields.insert("other".to_owned(), value)),
                    _ => drop(fields.insert(key, value)),
                },
                Some(Value::Array(items)) => {
                    let index = key.parse::<usize>().unwrap_or(0).min(items.len().saturating_sub(1));
                    match action {
                        0 if !items.is_empty() => drop(items.remove(index)),
                        1 => items.push(value),
                        2 if !items.is_empty() => items.push(items[index].clone()),
                        _ if !items.is_empty() => items[index] = value,
                        _ => {}
                    }
                }
                _ => {}
            }
        }
    }

    fn below(&mut self, bound: usize) -> usize {
        self.draws.below(bound as u64) as usize
    }

    fn resolve(&self, node: &'a Value) -> &'a Value {
        match node.get("$ref").and_then(Value::as_str) {
            Some(name) => self.resolve(&self.schema["$defs"][name.trim_start_matches("#/$defs/")]),
            None => node,
        }
    }

    /// The branches of a union; otherwise the node itself.
    fn branches(&self, node: &'a Value) -> Vec<&'a Value> {
        let node = self.resolve(node);
        match node.get("oneOf").or_else(|| node.get("anyOf")).and_then(Value::as_array) {
            Some(branches) => branches.iter().flat_map(|branch| self.branches(branch)).collect(),
            None => vec![node],
        }
    }

    /// All places within `value`, those of fields that are not given among them.
    fn collect(&self, value: &Value, node: &'a Value, pointer: &str, places: &mut Vec<Place<'a>>) {
        let branches = self.branches(node);
        match value {
            Value::Object(fields) => {
                let fits = |branch: &&&Value| {
                    let properties = &branch["properties"];
                    let kind = &properties["kind"]["const"];
                    properties.is_object()
                        && (kind.is_null() || fields.get("kind") == Some(kind))
                        && fields.keys().all(|field| properties.get(field).is_some())
                };
                let Some(branch) = branches.iter().find(fits) else { return };
                for (name, below) in branch["properties"].as_object().into_iter().flatten() {
                    let pointer = format!("{pointer}/{name}");
                    if let Some(value) = fields.get(name) {
                        self.collect(value, below, &pointer, places);
                    }
                    places.push((pointer, below));
                }
            }
            Value::Array(items) => {
                let Some(below) = branches.iter().find_map(|branch| branch.get("items")) else { return };
                for (index, value) in items.iter().enumerate() {
                    let pointer = format!("{pointer}/{index}");
                    self.collect(value, below, &pointer, places);
                    places.push((pointer, below));
                }
            }
            _ => {}
        }
    }

    /// A value that the schema allows.
    fn draw(&mut self, node: &'a Value, depth: u32) -> Value {
        let branches = self.branches(node);
        let node = branches[self.below(branches.len())];
        if let Some(value) = node.get("const") {
            return value.clone();
        }
        if let Some(values) = node.get("enum").and_then(Value::as_array) {
            return values[self.below(values.len())].clone();
        }
        let types: Vec<&str> = match &node["type"] {
            Value::Array(types) => types.iter().filter_map(Value::as_str).collect(),
            Value::String(one) => vec![one],
            _ => Vec::new(),
        };
        if types.is_empty() {
            return Value::Null;
        }
        match types[self.below(types.len())] {
            "boolean" => Value::Bool(self.below(2) == 0),
            "integer" => self.whole(node),
            "number" => self.number(node),
            "string" => json!(["a", "b", "x", "", "é"][self.below(5)]),
            "array" => {
                let least = node["minItems"].as_u64().unwrap_or(0) as usize;
                let count = if depth > DEEPEST { least } else { least + self.below(3) };
                (0..count).map(|_| self.draw(&node["items"], depth + 1)).collect()
            }
            "object" => {
                let required: Vec<_> =
                    node["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
                let mut fields = Map::new();
                for (name, below) in node["properties"].as_object().into_iter().flatten() {
                    if required.contains(&name.as_str()) || (depth < DEEPEST && self.below(3) == 0) {
                        fields.insert(name.clone(), self.draw(below, depth + 1));
                    }
                }
                Value::Object(fields)
            }
            _ => Value::Null,
        }
    }

    fn whole(&mut self, node: &Value) -> Value {
        let bound = |name: &str| node[name].as_f64().map(|bound| bound as u64);
        let least = bound("minimum").unwrap_or(0);
        let greatest = bound("maximum").unwrap_or(match node["format"].as_str() {
            Some("uint32") => u64::from(u32::MAX),
            Some("uint16") => u64::from(u16::MAX),
            _ => u64::MAX,
        });
        let any = self.draws.bits() >> self.below(64);
        json!(
            match self.below(8) {
                0 => least,
                1 => least + 1,
                2 => greatest,
                3 => greatest - 1,
                4 | 5 => 1 << self.below(40),
                _ => any,
            }
            .clamp(least, greatest)
        )
    }

    fn number(&mut self, node: &Value) -> Value {
        let least = node["minimum"].as_f64().or(node["exclusiveMinimum"].as_f64()).unwrap_or(-1.0);
        let greatest = node["maximum"].as_f64().unwrap_or(f64::MAX);
        let unit = self.draws.unit();
        let any = libm::exp2(unit * 80.0 - 30.0);
        json!(
            match self.below(8) {
                0 => least,
                1 => f64::MIN_POSITIVE,
                2 => greatest,
                3 => 1.0,
                4 | 5 => unit,
                _ => any,
            }
            .clamp(least, greatest)
        )
    }

    /// What no schema allows, or hardly.
    fn nonsense(&mut self) -> Value {
        let values = json!([
            null, true, -1, 0, 0.5, -0.0, u64::MAX, i64::MIN, 1e308, 5e-324, "x", "", [], {}, [[]], {"kind": "none"},
            "5ms"
        ]);
        values[self.below(17)].clone()
    }
}
