//! Result rows: one as a dict; many as an Arrow record batch, handed over by the Arrow `PyCapsule` interface without a copy.

use std::sync::{Arc, LazyLock};

use arrow_array::builder::{ArrayBuilder, Float64Builder, Int64Builder, ListBuilder, StringBuilder};
use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema, to_ffi};
use arrow_array::{Array, ArrayRef, Float64Array, Int64Array, StringArray, StructArray};
use arrow_schema::{DataType, Field, Fields};
use destage_core::{COLUMNS, Kind, Outcome, Value};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict};

static FIELDS: LazyLock<Fields> = LazyLock::new(|| {
    let field = |name, kind| Field::new(name, data_type(kind), true);
    COLUMNS.iter().map(|column| field(column.name, column.kind())).collect()
});

/// Result rows, handed over without a copy.
#[pyclass(frozen, module = "destage.engine._engine")]
pub struct Batch {
    rows: StructArray,
}

impl Batch {
    /// The rows of `outcomes`, in order.
    pub fn new(outcomes: &[Outcome]) -> PyResult<Self> {
        let arrays = COLUMNS.iter().enumerate().map(|(index, column)| {
            array_of(column.kind(), outcomes.iter().map(move |outcome| &outcome.values()[index]))
        });
        let rows = StructArray::try_new_with_length(FIELDS.clone(), arrays.collect(), None, outcomes.len())
            .map_err(|error| PyRuntimeError::new_err(error.to_string()))?;
        Ok(Self { rows })
    }

    /// A table of these columns, without nulls in its rows.
    pub fn from_columns(columns: Vec<(String, ArrayRef)>, count: usize) -> PyResult<Self> {
        let (fields, arrays): (Vec<_>, Vec<_>) = columns
            .into_iter()
            .map(|(name, array)| (Field::new(name, array.data_type().clone(), true), array))
            .unzip();
        let rows = StructArray::try_new_with_length(fields.into(), arrays, None, count)
            .map_err(|error| PyRuntimeError::new_err(error.to_string()))?;
        Ok(Self { rows })
    }
}

#[pymethods]
impl Batch {
    /// The Arrow C data interface: schema and array as capsules.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_array__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<(Bound<'py, PyCapsule>, Bound<'py, PyCapsule>)> {
        // There is one schema; a consumer that wants another casts.
        drop(requested_schema);
        let (array, schema): (FFI_ArrowArray, FFI_ArrowSchema) =
            to_ffi(&self.rows.to_data()).map_err(|error| PyRuntimeError::new_err(error.to_string()))?;
        let schema = PyCapsule::new_with_value(py, schema, c"arrow_schema")?;
        let array = PyCapsule::new_with_value(py, array, c"arrow_array")?;
        Ok((schema, array))
    }
}

/// A row as a dict of its values by column.
pub fn as_dict<'py>(py: Python<'py>, outcome: &Outcome) -> PyResult<Bound<'py, PyDict>> {
    let row = PyDict::new(py);
    for (column, value) in COLUMNS.iter().zip(outcome.values()) {
        match value {
            Value::Int(value) => row.set_item(column.name, value),
            Value::Float(value) => row.set_item(column.name, value),
            Value::Text(value) => row.set_item(column.name, value),
            Value::IntList(list) => row.set_item(column.name, list),
            Value::FloatList(list) => row.set_item(column.name, list),
            Value::TextList(list) => row.set_item(column.name, list),
        }?;
    }
    Ok(row)
}

fn data_type(kind: Kind) -> DataType {
    let list = |item| DataType::List(Arc::new(Field::new_list_field(item, true)));
    match kind {
        Kind::Text => DataType::Utf8,
        Kind::Int => DataType::Int64,
        Kind::Float => DataType::Float64,
        Kind::TextList => list(DataType::Utf8),
        Kind::IntList => list(DataType::Int64),
        Kind::FloatList => list(DataType::Float64),
    }
}

fn array_of<'a>(kind: Kind, values: impl Iterator<Item = &'a Value>) -> ArrayRef {
    match kind {
        Kind::Int => Arc::new(
            values
                .map(|value| if let Value::Int(value) = value { *value } else { None })
                .collect::<Int64Array>(),
        ),
        Kind::Float => Arc::new(
            values
                .map(|value| if let Value::Float(value) = value { *value } else { None })
                .collect::<Float64Array>(),
        ),
        Kind::Text => Arc::new(
            values
                .map(|value| if let Value::Text(value) = value { value.as_deref() } else { None })
                .collect::<StringArray>(),
        ),
        Kind::IntList => lists(Int64Builder::new(), values, |items, value| {
            if let Value::IntList(list) = value {
                items.append_slice(list);
            }
        }),
        Kind::FloatList => lists(Float64Builder::new(), values, |items, value| {
            if let Value::FloatList(list) = value {
                items.append_slice(list);
            }
        }),
        Kind::TextList => lists(StringBuilder::new(), values, |items, value| {
            if let Value::TextList(list) = value {
                for text in list {
                    items.append_value(text);
                }
            }
        }),
    }
}

/// One list for each value, whose items `add` appends.
fn lists<'a, B: ArrayBuilder>(
    items: B,
    values: impl Iterator<Item = &'a Value>,
    add: impl Fn(&mut B, &Value),
) -> ArrayRef {
    let mut lists = ListBuilder::new(items);
    for value in values {
        add(lists.values(), value);
        lists.append(true);
    }
    Arc::new(lists.finish())
}
