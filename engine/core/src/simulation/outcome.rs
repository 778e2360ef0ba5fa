//! The result of a run: one row, whose columns (name, type, unit, meaning) are defined here and nowhere else.

use serde::Serialize;

use super::Simulation;
use super::columns::row;

/// Whether the result of a run may be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// It may.
    Ok,
    /// Response time or dirty fraction were not stationary within the limit of requests: shown, never averaged.
    NotStationary,
    /// An open load beyond what the array carries: the backlog measures the length of the run.
    Overloaded,
    /// An array lost more disks than it can do without, and the run ended there: shown, never averaged.
    ArrayFailed,
}

impl Status {
    /// The name that the result column has.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::NotStationary => "not_stationary",
            Self::Overloaded => "overloaded",
            Self::ArrayFailed => "array_failed",
        }
    }
}

/// A value of a result column; nothing where the run does not define it.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// Text.
    Text(Option<String>),
    /// A whole number.
    Int(Option<i64>),
    /// A number.
    Float(Option<f64>),
    /// Texts, one for each array.
    TextList(Vec<String>),
    /// Whole numbers, one for each array.
    IntList(Vec<i64>),
    /// Numbers, one for each array.
    FloatList(Vec<f64>),
}

impl Value {
    /// The number that it is; nothing where it is none or not defined.
    pub fn number(&self) -> Option<f64> {
        match self {
            Self::Int(value) => value.map(|value| value as f64),
            Self::Float(value) => *value,
            _ => None,
        }
    }

    const fn type_name(&self) -> &'static str {
        match self {
            Self::Text(_) => "text",
            Self::Int(_) => "int",
            Self::Float(_) => "float",
            Self::TextList(_) => "text_list",
            Self::IntList(_) => "int_list",
            Self::FloatList(_) => "float_list",
        }
    }
}

/// The definition of a result column.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Column {
    /// Name, with the unit as its last part where there is one.
    pub name: String,
    /// `text`, `int`, `float`, or a list of one of them.
    #[serde(rename = "type")]
    pub kind: &'static str,
    /// Unit; empty for text.
    pub unit: &'static str,
    /// What it says.
    pub meaning: String,
}

/// Where the columns of a row go, one after the other.
pub trait ColumnSink {
    /// Takes a column and its value.
    fn put(&mut self, name: &str, unit: &'static str, meaning: &str, value: Value);
}

/// The result of a run.
#[derive(Debug)]
pub struct Outcome {
    cells: Vec<(Column, Value)>,
}

impl Outcome {
    /// The columns and their values, in order.
    pub fn cells(&self) -> &[(Column, Value)] {
        &self.cells
    }

    /// The value of a numeric column; nothing where it is not defined.
    pub fn number(&self, name: &str) -> Option<f64> {
        self.cells.iter().find(|(column, _)| column.name == name).and_then(|(_, value)| value.number())
    }

    /// The value of the column `status`.
    pub fn status(&self) -> &str {
        match self.cells.first() {
            Some((_, Value::Text(Some(status)))) => status,
            _ => "failed",
        }
    }

    /// The row of a run that failed: the error, and nothing else.
    pub fn failed(kind: &str, error: &str) -> Self {
        let mut outcome = Self::blank();
        for (column, value) in &mut outcome.cells {
            let text = match column.name.as_str() {
                "status" => "failed",
                "error_kind" => kind,
                "error" => error,
                _ => continue,
            };
            *value = Value::Text(Some(text.to_owned()));
        }
        outcome
    }

    /// A row without values.
    fn blank() -> Self {
        let mut outcome = Self { cells: Vec::new() };
        row(None, &mut outcome);
        outcome
    }
}

impl ColumnSink for Outcome {
    fn put(&mut self, name: &str, unit: &'static str, meaning: &str, value: Value) {
        let kind = value.type_name();
        let column = Column { name: name.to_owned(), kind, unit, meaning: meaning.to_owned() };
        self.cells.push((column, value));
    }
}

/// The result columns, in order.
pub fn columns() -> Vec<Column> {
    Outcome::blank().cells.into_iter().map(|(column, _)| column).collect()
}

impl Simulation {
    /// The row of a run that is over.
    pub(super) fn into_outcome(mut self) -> Outcome {
        let Some(mut outcome) = self.at_window_end.take() else { return self.outcome() };
        // Everything stands as it was when the window ended, but for what the drain added.
        let is_drained = !self.arrays.have_lost_data();
        let drain = self.now().since(self.context.measures.start).as_secs_f64()
            - outcome.number("window_s").unwrap_or(0.0);
        for (column, value) in &mut outcome.cells {
            match column.name.as_str() {
                "events" => *value = Value::Int(Some(self.event_count.cast_signed())),
                "drain_s" if is_drained => *value = Value::Float(Some(drain)),
                _ => {}
            }
        }
        outcome
    }

    /// The row as things stand.
    pub(super) fn outcome(&self) -> Outcome {
        let mut outcome = Outcome { cells: Vec::new() };
        row(Some(self), &mut outcome);
        outcome
    }

    /// Length of the window so far [s].
    pub(super) fn window_s(&self) -> f64 {
        self.now().since(self.context.measures.start).as_secs_f64()
    }

    pub(super) fn status(&self) -> Status {
        if self.control.has_failed {
            Status::ArrayFailed
        } else if self.is_overloaded() {
            Status::Overloaded
        } else if self.control.is_stationary {
            Status::Ok
        } else {
            Status::NotStationary
        }
    }
}
