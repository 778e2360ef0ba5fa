//! The top-level fields of points: each is resolved once for the values in it that are not numbers, which are filled in.

use rustc_hash::FxHashMap;
use serde_json::{Map, Value};

/// Most resolved fields in memory, about 3 kB each.
const MOST_RESOLVED: usize = 10_000;

/// A top-level field of points that assign the same parameters in it.
#[derive(Default)]
pub struct Field {
    /// What it is called for its resolution.
    pub key: String,
    /// The parameters in it, by number.
    pub paths: Vec<usize>,
    /// By the values of its parameters, the number of its fragment.
    fragments: FxHashMap<Vec<u32>, u32>,
    /// The values of the last point, and their fragment: neighbours differ in few fields.
    last: Vec<u32>,
    last_fragment: Option<u32>,
    /// By the values that are not numbers, the field as JSON; none where a number has other effects than itself.
    templates: FxHashMap<Vec<u32>, Option<Map<String, Value>>>,
}

impl Field {
    /// A field without values.
    pub fn new(key: String, paths: Vec<usize>) -> Self {
        Self { key, paths, ..Self::default() }
    }

    /// Forgets all values.
    pub fn clear(&mut self) {
        *self = Self::new(std::mem::take(&mut self.key), std::mem::take(&mut self.paths));
    }

    /// The fragment of a point, if there is one; `value` is the number of the value of a parameter.
    pub fn find(&mut self, value: impl Fn(usize) -> Option<u32>) -> Option<u32> {
        let values = self.paths.iter().map(|path| value(*path).unwrap_or(u32::MAX));
        if self.last_fragment.is_none() || !values.clone().eq(self.last.iter().copied()) {
            self.last.clear();
            self.last.extend(values);
            self.last_fragment = self.fragments.get(&self.last).copied();
        }
        self.last_fragment
    }

    /// The values of the point that was looked for last.
    pub fn values(&self) -> &[u32] {
        &self.last
    }

    /// Keeps the fragment of these values.
    pub fn add(&mut self, values: Vec<u32>, fragment: u32) {
        self.fragments.insert(values, fragment);
    }

    /// The field with these numbers; none if it has to be resolved for them.
    pub fn fill(&mut self, shape: &[u32], numbers: &[(&str, &Value)]) -> Option<&Map<String, Value>> {
        let template = self.templates.get_mut(shape)?.as_mut()?;
        for (path, number) in numbers {
            (*number).clone_into(find(template, path)?);
        }
        Some(template)
    }

    /// Keeps a field that was resolved for these numbers.
    pub fn keep(&mut self, shape: Vec<u32>, numbers: &[(&str, &Value)], resolved: &Map<String, Value>) {
        if numbers.is_empty() || self.templates.contains_key(&shape) {
            return;
        }
        if self.templates.len() >= MOST_RESOLVED {
            self.templates.clear();
        }
        let mut template = resolved.clone();
        let is_plain =
            numbers.iter().all(|(path, number)| find(&mut template, path).is_some_and(|at| at == *number));
        self.templates.insert(shape, is_plain.then_some(template));
    }
}

/// The value at a dotted path; `array` is short for the first of `arrays`.
fn find<'a>(fields: &'a mut Map<String, Value>, path: &str) -> Option<&'a mut Value> {
    let (first, rest) = path.split_once('.').unwrap_or((path, ""));
    let is_short = first == "array" && !fields.contains_key(first);
    let node = if is_short { fields.get_mut("arrays")?.get_mut(0)? } else { fields.get_mut(first)? };
    rest.split('.').filter(|segment| !segment.is_empty()).try_fold(node, |node, segment| match node {
        Value::Object(fields) => fields.get_mut(segment),
        Value::Array(items) => items.get_mut(segment.parse::<usize>().ok()?),
        _ => None,
    })
}
