//! Canonical configurations and identities of many points in one call, from columns of the values that they assign.

use std::rc::Rc;
use std::sync::Arc;

use arrow_array::types::Int32Type;
use arrow_array::{ArrayRef, DictionaryArray, Int32Array, StringArray};
use destage_core::RunError;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use rustc_hash::FxHashMap;
use serde_json::{Map, Value, json};

use crate::assigned::{Column, Given, Values};
use crate::fields::Field;
use crate::identity::RunDigest;
use crate::parts::{Axis, Fragment, PARTS, Parts, RUN, assemble};
use crate::rows::Batch;

/// Most fragments in memory, about 5 kB each.
const MOST_KEPT: usize = 50_000;

/// An invalid point, and as JSON: the rules that it breaks; or a table with the `paths` of a field that cannot be read; or null
/// if it can only be built as a whole.
type Mistake = (usize, String);

/// Builds the configurations of points from the values that they assign.
#[pyclass(unsendable, module = "destage.engine._engine")]
pub struct Composer {
    layout: Py<PyAny>,
    axes: Vec<Axis>,
    paths: Vec<String>,
    values: Vec<Values>,
    fields: Vec<Field>,
    /// The fields of points that assign these parameters; none if they can only be built as a whole.
    patterns: FxHashMap<Vec<usize>, Option<Rc<[usize]>>>,
    /// Each with its field, if it is of one.
    fragments: Vec<Option<Fragment>>,
    origins: Vec<Option<usize>>,
    parts: Parts,
    digest: RunDigest,
}

#[pymethods]
impl Composer {
    /// A composer that reads the parameters `axes`, each the segments of a dotted path, from the configurations.
    ///
    /// `layout` returns the fields of points that assign some paths: of each, a key and the paths in it; none if the points can
    /// only be built as a whole.
    #[new]
    fn new(axes: Vec<Vec<String>>, layout: Py<PyAny>) -> PyResult<Self> {
        let axes: Option<Vec<_>> = axes.into_iter().map(Axis::new).collect();
        let axes = axes.ok_or_else(|| PyValueError::new_err("an axis is in no part of a configuration"))?;
        Ok(Self {
            layout,
            axes,
            paths: Vec::new(),
            values: Vec::new(),
            fields: Vec::new(),
            patterns: FxHashMap::default(),
            fragments: Vec::new(),
            origins: Vec::new(),
            parts: Parts::default(),
            digest: RunDigest::default(),
        })
    }

    /// The runs of points, one row per point and replicate, and the points that are invalid, which have no rows.
    ///
    /// `resolve` takes the key of a field and a point, and returns the field as JSON members in base units; none if it has
    /// mistakes. `whole` has all fields of points that are not built from their columns.
    fn compose(
        &mut self,
        columns: Vec<Given>,
        count: usize,
        replicates: u32,
        resolve: &Bound<'_, PyAny>,
        whole: FxHashMap<usize, String>,
    ) -> PyResult<(Batch, Vec<Mistake>)> {
        if self.fragments.len() > MOST_KEPT {
            self.clear();
        }
        let columns = Column::read(columns, count)?;
        let block = self.intern(&columns);
        let mut rows = Rows::new(self.axes.len(), count * replicates as usize);
        let (mut mistakes, mut runs, mut ids) = (Vec::new(), Vec::new(), Vec::new());
        let mut fields = None;
        for point in 0..count {
            if let Some(members) = whole.get(&point) {
                ids = vec![self.add(read(members).as_ref().and_then(Fragment::read), None)];
                fields = None;
            } else {
                if fields.is_none() || block.is_mixed {
                    fields = Some(self.find_fields(resolve.py(), &block, point)?);
                    ids.clear();
                }
                let Some(Some(fields)) = &fields else {
                    mistakes.push((point, "null".to_owned()));
                    continue;
                };
                for (place, &field) in fields.clone().iter().enumerate() {
                    if place == ids.len() {
                        ids.push(self.find_fragment(field, &block, point, resolve)?);
                    } else if !self.fields[field].paths.is_empty() {
                        ids[place] = self.find_fragment(field, &block, point, resolve)?;
                    }
                }
            }
            let (scenario, sources) = match assemble(&self.fragments, ids.iter().copied()) {
                Ok(found) => found,
                Err(unreadable) => {
                    mistakes.push((point, json!({"paths": self.list_paths(unreadable)}).to_string()));
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

/// The columns of a call, with the numbers of parameters and values.
struct Block<'a> {
    columns: &'a [Column],
    /// By column, the number of its parameter, and of each of its values.
    paths: Vec<usize>,
    values: Vec<Vec<u32>>,
    /// Whether some points do not assign all parameters.
    is_mixed: bool,
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
    fn clear(&mut self) {
        self.values.iter_mut().for_each(|values| *values = Values::default());
        self.fields.iter_mut().for_each(Field::clear);
        self.axes.iter_mut().for_each(Axis::clear);
        self.fragments.clear();
        self.origins.clear();
        self.parts = Parts::default();
        self.digest = RunDigest::default();
    }

    fn intern<'a>(&mut self, columns: &'a [Column]) -> Block<'a> {
        let (mut paths, mut values) = (Vec::new(), Vec::new());
        for column in columns {
            let known = self.paths.iter().position(|path| *path == column.path);
            let path = known.unwrap_or_else(|| {
                self.paths.push(column.path.clone());
                self.values.push(Values::default());
                self.paths.len() - 1
            });
            paths.push(path);
            values.push(column.texts.iter().map(|text| self.values[path].intern(text)).collect());
        }
        Block { columns, paths, values, is_mixed: !columns.iter().all(Column::is_whole) }
    }

    /// The fields of a point.
    fn find_fields(
        &mut self,
        py: Python<'_>,
        block: &Block<'_>,
        point: usize,
    ) -> PyResult<Option<Rc<[usize]>>> {
        let columns = block.columns.iter().zip(&block.paths);
        let assigned = columns.filter(|(column, _)| column.at(point).is_some());
        let pattern: Vec<usize> = assigned.map(|(_, path)| *path).collect();
        if let Some(known) = self.patterns.get(&pattern) {
            return Ok(known.clone());
        }
        let names: Vec<&str> = pattern.iter().map(|path| self.paths[*path].as_str()).collect();
        let described: Option<Vec<(String, Vec<String>)>> = self.layout.call1(py, (names,))?.extract(py)?;
        let fields: Option<Rc<[usize]>> =
            described.map(|described| described.into_iter().map(|field| self.find_field(field)).collect());
        self.patterns.insert(pattern, fields.clone());
        Ok(fields)
    }

    /// The number of a field; points that differ in the parameters of other fields share it.
    fn find_field(&mut self, (key, names): (String, Vec<String>)) -> usize {
        let number = |name| self.paths.iter().position(|path| path == name);
        let paths: Vec<usize> = names.iter().filter_map(number).collect();
        let known = self.fields.iter().position(|field| field.key == key && field.paths == paths);
        known.unwrap_or_else(|| {
            self.fields.push(Field::new(key, paths));
            self.fields.len() - 1
        })
    }

    /// The number of the fragment that a field of a point is.
    fn find_fragment(
        &mut self,
        number: usize,
        block: &Block<'_>,
        point: usize,
        resolve: &Bound<'_, PyAny>,
    ) -> PyResult<u32> {
        let field = &mut self.fields[number];
        if let Some(known) = field.find(|path| {
            let position = block.paths.iter().position(|known| *known == path)?;
            Some(block.values[position][block.columns[position].at(point)?])
        }) {
            return Ok(known);
        }
        let values = field.values().to_vec();
        let mut shape = values.clone();
        let mut numbers = Vec::new();
        for (path, value) in field.paths.iter().zip(&mut shape) {
            if let Some(found) = &self.values[*path].numbers[*value as usize] {
                *value = if found.is_f64() { u32::MAX } else { u32::MAX - 1 };
                numbers.push((self.paths[*path].as_str(), found));
            }
        }
        let fragment = if let Some(filled) = field.fill(&shape, &numbers) {
            Fragment::read(filled)
        } else {
            let members: Option<String> = resolve.call1((&field.key, point))?.extract()?;
            let resolved = members.as_deref().and_then(read);
            if let Some(resolved) = &resolved {
                field.keep(shape, &numbers, resolved);
            }
            resolved.as_ref().and_then(Fragment::read)
        };
        let fragment = self.add(fragment, Some(number));
        self.fields[number].add(values, fragment);
        Ok(fragment)
    }

    /// Adds a fragment; points that use one that cannot be read are invalid.
    fn add(&mut self, fragment: Option<Fragment>, field: Option<usize>) -> u32 {
        self.fragments.push(fragment);
        self.origins.push(field);
        (self.fragments.len() - 1) as u32
    }

    /// The parameters in a fragment.
    fn list_paths(&self, fragment: u32) -> Vec<&str> {
        let field = self.origins.get(fragment as usize).copied().flatten();
        let paths = field.map_or(&[][..], |field| &self.fields[field].paths);
        paths.iter().map(|path| self.paths[*path].as_str()).collect()
    }

    fn add_rows(&mut self, rows: &mut Rows, mut parts: [u32; PARTS.len()], runs: &[u32]) {
        let values = self.parts.values(&parts, &self.axes);
        for &run in runs {
            parts[RUN] = run;
            let mut present = [0; PARTS.len()];
            let mut count = 0;
            for &part in parts.iter().filter(|part| **part != u32::MAX) {
                present[count] = part;
                count += 1;
            }
            rows.run_ids.push(self.digest.digest(&present[..count], |part| self.parts.get(part).identity()));
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

/// The fields of JSON members; none if they are malformed.
fn read(members: &str) -> Option<Map<String, Value>> {
    serde_json::from_str(&format!("{{{members}}}")).ok()
}

/// The dictionary array of texts by number, each text that occurs once; `u32::MAX` is null.
fn encode<'a>(numbers: &[u32], text: impl Fn(u32) -> &'a str) -> PyResult<ArrayRef> {
    // Parts that differ as they are written may have one canonical text.
    let (mut keys_of_numbers, mut keys_of_texts) = (FxHashMap::default(), FxHashMap::default());
    let mut texts = Vec::new();
    let mut next = 0;
    let keys: Int32Array = numbers
        .iter()
        .map(|&number| {
            (number != u32::MAX).then(|| {
                *keys_of_numbers.entry(number).or_insert_with(|| {
                    let text = text(number);
                    *keys_of_texts.entry(text).or_insert_with(|| {
                        texts.push(text);
                        next += 1;
                        next - 1
                    })
                })
            })
        })
        .collect();
    DictionaryArray::<Int32Type>::try_new(keys, Arc::new(StringArray::from(texts)))
        .map(|array| Arc::new(array) as ArrayRef)
        .map_err(|error| PyRuntimeError::new_err(error.to_string()))
}
