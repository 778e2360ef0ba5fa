//! Result rows as an Arrow record batch, handed over by the Arrow `PyCapsule` interface without a copy.

use std::sync::Arc;

use arrow_array::builder::{Float64Builder, Int64Builder, ListBuilder, StringBuilder};
use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema, to_ffi};
use arrow_array::{Array, ArrayRef, StructArray};
use arrow_schema::{DataType, Field, Fields};
use destage_core::{Column, Outcome, Value};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

/// Result rows, handed over without a copy.
#[pyclass(frozen, module = "destage.engine._engine")]
pub struct Batch {
    rows: StructArray,
}

impl Batch {
    /// The rows of `outcomes`, in order.
    pub fn new(outcomes: &[Outcome]) -> PyResult<Self> {
        let columns = destage_core::columns();
        let mut fields = Vec::with_capacity(columns.len());
        let mut arrays = Vec::with_capacity(columns.len());
        for (index, column) in columns.iter().enumerate() {
            let array = array_of(column, outcomes.iter().map(|outcome| &outcome.cells()[index].1));
            fields.push(Field::new(&column.name, array.data_type().clone(), true));
            arrays.push(array);
        }
        let rows = StructArray::try_new_with_length(Fields::from(fields), arrays, None, outcomes.len())
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

fn array_of<'a>(column: &Column, values: impl Iterator<Item = &'a Value>) -> ArrayRef {
    match column.kind {
        "int" => {
            let mut builder = Int64Builder::new();
            for value in values {
                builder.append_option(if let Value::Int(value) = value { *value } else { None });
            }
            Arc::new(builder.finish())
        }
        "float" => {
            let mut builder = Float64Builder::new();
            for value in values {
                builder.append_option(if let Value::Float(value) = value { *value } else { None });
            }
            Arc::new(builder.finish())
        }
        "int_list" => {
            let mut builder = ListBuilder::new(Int64Builder::new()).with_field(item(DataType::Int64));
            for value in values {
                if let Value::IntList(list) = value {
                    builder.values().append_slice(list);
                }
                builder.append(true);
            }
            Arc::new(builder.finish())
        }
        "float_list" => {
            let mut builder = ListBuilder::new(Float64Builder::new()).with_field(item(DataType::Float64));
            for value in values {
                if let Value::FloatList(list) = value {
                    builder.values().append_slice(list);
                }
                builder.append(true);
            }
            Arc::new(builder.finish())
        }
        "text_list" => {
            let mut builder = ListBuilder::new(StringBuilder::new()).with_field(item(DataType::Utf8));
            for value in values {
                if let Value::TextList(list) = value {
                    for text in list {
                        builder.values().append_value(text);
                    }
                }
                builder.append(true);
            }
            Arc::new(builder.finish())
        }
        _ => {
            let mut builder = StringBuilder::new();
            for value in values {
                builder.append_option(if let Value::Text(value) = value { value.as_deref() } else { None });
            }
            Arc::new(builder.finish())
        }
    }
}

fn item(kind: DataType) -> Arc<Field> {
    Arc::new(Field::new("item", kind, true))
}
