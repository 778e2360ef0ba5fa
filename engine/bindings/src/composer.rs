//! Canonical configurations and identities of many points in one call, as Arrow columns.

use std::sync::Arc;

use arrow_array::types::Int32Type;
use arrow_array::{ArrayRef, DictionaryArray, Int32Array, StringArray};
use destage_core::RunError;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use rustc_hash::FxHashMap;
use serde_json::json;

use crate::identity::{RunDigest, point_id};
use crate::parts::{Axis, Fragment, PARTS, Parts, assemble};
use crate::rows::Batch;

/// An invalid point, and the rules that it breaks, as JSON, or the number of its first fragment that cannot be read.
type Mistake = (usize, String);

/// Builds the configurations of points from fragments that they share.
#[pyclass(module = "destage.engine._engine")]
pub struct Composer {
    axes: Vec<Axis>,
    fragments: Vec<Option<Fragment>>,
    parts: Parts,
    digest: RunDigest,
}

#[pymethods]
impl Composer {
    /// A composer that reads these parameters, each the segments of a dotted path, from the configurations.
    #[new]
    fn new(axes: Vec<Vec<String>>) -> PyResult<Self> {
        let axes: Option<Vec<_>> = axes.into_iter().map(Axis::new).collect();
        let axes = axes.ok_or_else(|| PyValueError::new_err("an axis is in no part of a configuration"))?;
        Ok(Self { axes, fragments: Vec::new(), parts: Parts::default(), digest: RunDigest::default() })
    }

    /// Adds a fragment: one or more fields of a configuration, as JSON members in base units; returns its number.
    fn add(&mut self, members: &str) -> usize {
        self.fragments.push(Fragment::read(members));
        self.fragments.len() - 1
    }

    /// The runs of points, one row per point and replicate, and the points that are invalid, which have no rows.
    ///
    /// `fragments` has, for each fragment of a configuration, its number at each point, as little-endian u32.
    fn compose(&mut self, fragments: Vec<Vec<u8>>, replicates: u32) -> PyResult<(Batch, Vec<Mistake>)> {
        let columns: Vec<Vec<u32>> = fragments.iter().map(|column| read_numbers(column)).collect();
        let count = columns.first().map_or(0, Vec::len);
        if columns.iter().any(|column| column.len() != count) {
            return Err(PyValueError::new_err("all fragments need the same number of points"));
        }
        let mut rows = Rows::new(self.axes.len(), count * replicates as usize);
        let mut mistakes = Vec::new();
        let mut runs = Vec::new();
        for point in 0..count {
            let ids = columns.iter().map(|column| column[point]);
            let (scenario, sources) = match assemble(&self.fragments, ids) {
                Ok(found) => found,
                Err(unreadable) => {
                    mistakes.push((point, unreadable.to_string()));
                    continue;
                }
            };
            match scenario.normalise_bounded() {
                Ok(scenario) => {
                    let parts = self
                        .parts
                        .add(scenario, &sources, replicates, &mut self.axes, &mut runs)
                        .ok_or_else(|| PyRuntimeError::new_err("a configuration cannot be written"))?;
                    self.add_rows(&mut rows, parts, &runs);
                }
                Err(issues) => {
                    let issues = RunError::Configuration(issues).issues();
                    mistakes.push((point, json!(issues).to_string()));
                }
            }
        }
        Ok((self.batch(rows)?, mistakes))
    }
}

/// The rows of a call: the parts and the values of the axes by number.
struct Rows {
    run_ids: Vec<String>,
    parts: [Vec<u32>; PARTS.len()],
    axes: Vec<Vec<u32>>,
}

impl Rows {
    fn new(axes: usize, count: usize) -> Self {
        Self {
            run_ids: Vec::with_capacity(count),
            parts: std::array::from_fn(|_| Vec::with_capacity(count)),
            axes: vec![Vec::with_capacity(count); axes],
        }
    }
}

impl Composer {
    fn add_rows(&mut self, rows: &mut Rows, mut parts: [u32; PARTS.len()], runs: &[u32]) {
        let text = |part| {
            let part = self.parts.get(part);
            part.identity.as_deref().unwrap_or(&part.member)
        };
        let mut next = [0; PARTS.len()];
        let values: Vec<u32> = self
            .axes
            .iter()
            .map(|axis| {
                let position = next[axis.part];
                next[axis.part] += 1;
                if parts[axis.part] == u32::MAX {
                    u32::MAX
                } else {
                    self.parts.get(parts[axis.part]).values[position]
                }
            })
            .collect();
        for &run in runs {
            parts[4] = run;
            let mut present = [0; PARTS.len()];
            let mut count = 0;
            for &part in parts.iter().filter(|part| **part != u32::MAX) {
                present[count] = part;
                count += 1;
            }
            rows.run_ids.push(self.digest.digest(&present[..count], text));
            for (column, part) in rows.parts.iter_mut().zip(parts) {
                column.push(part);
            }
            for (column, value) in rows.axes.iter_mut().zip(&values) {
                column.push(*value);
            }
        }
    }

    fn batch(&self, rows: Rows) -> PyResult<Batch> {
        let count = rows.run_ids.len();
        let mut columns: Vec<(String, ArrayRef)> =
            vec![("run_id".to_owned(), Arc::new(StringArray::from(rows.run_ids)))];
        for (name, numbers) in PARTS.iter().zip(rows.parts) {
            columns.push((format!("config.{name}"), encode(&numbers, |part| &self.parts.get(part).member)?));
        }
        for (index, (axis, numbers)) in self.axes.iter().zip(rows.axes).enumerate() {
            columns.push((format!("axis.{index}"), encode(&numbers, |value| axis.text(value))?));
        }
        Batch::from_columns(columns, count)
    }
}

/// The dictionary array of texts by number, with only the texts that occur; `u32::MAX` is null.
fn encode<'a>(numbers: &[u32], text: impl Fn(u32) -> &'a str) -> PyResult<ArrayRef> {
    let mut known = FxHashMap::default();
    let mut texts = Vec::new();
    let mut next = 0;
    let keys: Int32Array = numbers
        .iter()
        .map(|&number| {
            (number != u32::MAX).then(|| {
                *known.entry(number).or_insert_with(|| {
                    texts.push(text(number));
                    next += 1;
                    next - 1
                })
            })
        })
        .collect();
    DictionaryArray::<Int32Type>::try_new(keys, Arc::new(StringArray::from(texts)))
        .map(|array| Arc::new(array) as ArrayRef)
        .map_err(|error| PyRuntimeError::new_err(error.to_string()))
}

fn read_numbers(bytes: &[u8]) -> Vec<u32> {
    let (words, _) = bytes.as_chunks();
    words.iter().map(|word| u32::from_le_bytes(*word)).collect()
}

/// The identity of each point of a grid: the digest of its assignments as JSON.
///
/// `members` has, for each axis in the order of the paths, the JSON member of each of its values; `numbers` has, for each axis,
/// the number of its value at each point, as little-endian u32.
#[pyfunction]
pub fn point_ids(members: Vec<Vec<String>>, numbers: Vec<Vec<u8>>, count: usize) -> PyResult<Batch> {
    let columns: Vec<Vec<u32>> = numbers.iter().map(|column| read_numbers(column)).collect();
    let mut text = Vec::new();
    let ids: Option<Vec<String>> = (0..count)
        .map(|point| {
            text.clear();
            text.push(b'{');
            for (axis, (members, column)) in members.iter().zip(&columns).enumerate() {
                if axis > 0 {
                    text.push(b',');
                }
                text.extend_from_slice(members.get(*column.get(point)? as usize)?.as_bytes());
            }
            text.push(b'}');
            Some(point_id(&text))
        })
        .collect();
    let ids = ids.ok_or_else(|| PyValueError::new_err("a number has no value"))?;
    Batch::from_columns(vec![("point_id".to_owned(), Arc::new(StringArray::from(ids)))], count)
}
