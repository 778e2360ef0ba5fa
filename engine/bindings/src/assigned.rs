//! The values that points assign, as columns: the distinct values of a parameter, and by point the position of its value.

use std::sync::Arc;

use arrow_array::StringArray;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use rustc_hash::FxHashMap;
use serde_json::{Map, Value};

use crate::canonical_text::to_text;
use crate::identity::{RunDigest, point_id};
use crate::parts::{PARTS, Part, write};
use crate::rows::Batch;

/// A parameter by dotted path, its distinct values as JSON, and by point the position of its value as little-endian i32,
/// negative where the point does not assign it.
pub type Given = (String, Vec<String>, Vec<u8>);

/// A column of assigned values.
pub struct Column {
    pub path: String,
    pub texts: Vec<String>,
    codes: Vec<i32>,
}

impl Column {
    /// The columns of `count` points.
    pub fn read(given: Vec<Given>, count: usize) -> PyResult<Vec<Self>> {
        let columns: Vec<Self> = given
            .into_iter()
            .map(|(path, texts, codes)| {
                let (words, _) = codes.as_chunks();
                Self { path, texts, codes: words.iter().map(|word| i32::from_le_bytes(*word)).collect() }
            })
            .collect();
        let is_sound = |column: &Self| {
            let most = column.codes.iter().copied().max().unwrap_or(-1);
            column.codes.len() == count && (most < 0 || (most as usize) < column.texts.len())
        };
        if columns.iter().all(is_sound) {
            Ok(columns)
        } else {
            Err(PyValueError::new_err("a column has another number of points, or a code without a value"))
        }
    }

    /// The position of the value that a point assigns.
    pub fn at(&self, point: usize) -> Option<usize> {
        usize::try_from(self.codes[point]).ok()
    }

    /// Whether every point assigns it.
    pub fn is_whole(&self) -> bool {
        self.codes.iter().all(|code| *code >= 0)
    }
}

/// The distinct values of a parameter, over many blocks of points.
#[derive(Default)]
pub struct Values {
    by_text: FxHashMap<String, u32>,
    /// The values that are written in a configuration as they are assigned: numbers, but not 5.0, which may be written as 5.
    pub numbers: Vec<Option<Value>>,
}

impl Values {
    /// The number of a value.
    pub fn intern(&mut self, text: &str) -> u32 {
        if let Some(&known) = self.by_text.get(text) {
            return known;
        }
        let number = self.numbers.len() as u32;
        self.numbers.push(serde_json::from_str(text).ok().filter(is_plain));
        self.by_text.insert(text.to_owned(), number);
        number
    }
}

fn is_plain(value: &Value) -> bool {
    match value {
        Value::Number(number) => {
            !number.is_f64() || number.as_f64().is_some_and(|float| float.fract() != 0.0)
        }
        _ => false,
    }
}

/// The identity of each point: the digest of its assignments.
#[pyfunction]
pub fn point_ids(columns: Vec<Given>, count: usize) -> PyResult<Batch> {
    let mut columns = Column::read(columns, count)?;
    columns.sort_by(|one, other| one.path.cmp(&other.path));
    let members: Vec<Vec<String>> = columns
        .iter()
        .map(|column| column.texts.iter().map(|text| write_member(&column.path, text)).collect())
        .collect();
    let mut text = Vec::new();
    let ids = (0..count).map(|point| {
        text.clear();
        for (column, members) in columns.iter().zip(&members) {
            if let Some(value) = column.at(point) {
                text.push(if text.is_empty() { b'{' } else { b',' });
                text.extend_from_slice(members[value].as_bytes());
            }
        }
        if text.is_empty() {
            text.push(b'{');
        }
        text.push(b'}');
        point_id(&text)
    });
    let ids = StringArray::from_iter_values(ids);
    Batch::from_columns(vec![("point_id".to_owned(), Arc::new(ids))], count)
}

/// The member of a value in canonical text.
fn write_member(path: &str, text: &str) -> String {
    let is_integer = text.strip_prefix('-').unwrap_or(text).bytes().all(|digit| digit.is_ascii_digit());
    let name = to_text(&Value::from(path)).unwrap_or_default();
    // An integer of any length is its own text.
    let value = if is_integer { text.to_owned() } else { canonical_text(text) };
    format!("{name}:{value}")
}

/// The canonical text of a document as JSON; what is none, as NaN, is its own text.
#[pyfunction]
pub fn canonical_text(document: &str) -> String {
    let text = serde_json::from_str::<Value>(document).and_then(|value| to_text(&value));
    text.unwrap_or_else(|_| document.to_owned())
}

/// The identity of the run of a canonical configuration.
#[pyfunction]
pub fn run_id(config: &str) -> PyResult<String> {
    let fields: Map<String, Value> =
        serde_json::from_str(config).map_err(|error| PyValueError::new_err(error.to_string()))?;
    let present = PARTS.iter().enumerate().filter_map(|(part, name)| Some((part, fields.get(*name)?)));
    let parts: Option<Vec<Part>> = present.map(|(part, value)| write(part, value, &mut [])).collect();
    let parts = parts.ok_or_else(|| PyValueError::new_err("a part cannot be written"))?;
    let numbers: Vec<u32> = (0..parts.len() as u32).collect();
    Ok(RunDigest::default().digest(&numbers, |part| parts[part as usize].identity()))
}
