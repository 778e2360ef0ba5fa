//! What a result column is, and what its values are.

use super::{RunView, Verdict};

/// A result column.
#[derive(Clone, Copy, Debug)]
pub struct Column {
    /// Name; it ends in the unit where there is one.
    pub name: &'static str,
    /// Unit; empty for text.
    pub unit: &'static str,
    /// What it means, in one phrase.
    pub meaning: &'static str,
    reader: Reader,
    /// Whether the value after a drain counts, not the one at the end of the window.
    pub(in super::super) covers_drain: bool,
}

/// Reads a column's value from a run; the variant gives the column's type.
#[derive(Clone, Copy, Debug)]
pub(super) enum Reader {
    Text(fn(Verdict<'_>) -> Option<&str>),
    /// A whole number that every run defines.
    Count(fn(&RunView<'_>) -> u64),
    Int(fn(&RunView<'_>) -> Option<u64>),
    Float(fn(&RunView<'_>) -> Option<f64>),
    TextList(fn(&RunView<'_>) -> Vec<String>),
    IntList(fn(&RunView<'_>) -> Vec<i64>),
    FloatList(fn(&RunView<'_>) -> Vec<f64>),
}

/// The type of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Kind {
    Text,
    Int,
    Float,
    TextList,
    IntList,
    FloatList,
}

impl Kind {
    /// Its name in schemas and documentation.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Int => "int",
            Self::Float => "float",
            Self::TextList => "text_list",
            Self::IntList => "int_list",
            Self::FloatList => "float_list",
        }
    }
}

/// The value of a column in one row; `None` where the run does not define it.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Value {
    Text(Option<String>),
    Int(Option<i64>),
    Float(Option<f64>),
    TextList(Vec<String>),
    IntList(Vec<i64>),
    FloatList(Vec<f64>),
}

impl Value {
    /// The number it holds; `None` where it is undefined or of another type.
    pub fn number(&self) -> Option<f64> {
        match self {
            Self::Int(value) => value.map(|value| value as f64),
            Self::Float(value) => *value,
            _ => None,
        }
    }
}

impl Column {
    /// Its type.
    pub const fn kind(&self) -> Kind {
        match self.reader {
            Reader::Text(_) => Kind::Text,
            Reader::Count(_) | Reader::Int(_) => Kind::Int,
            Reader::Float(_) => Kind::Float,
            Reader::TextList(_) => Kind::TextList,
            Reader::IntList(_) => Kind::IntList,
            Reader::FloatList(_) => Kind::FloatList,
        }
    }

    /// Its value; a run that failed has only a verdict.
    pub(in super::super) fn read(&self, verdict: Verdict<'_>, run: Option<&RunView<'_>>) -> Value {
        match self.reader {
            Reader::Text(read) => Value::Text(read(verdict).map(str::to_owned)),
            Reader::Count(read) => Value::Int(run.map(|run| read(run).cast_signed())),
            Reader::Int(read) => Value::Int(run.and_then(read).map(u64::cast_signed)),
            Reader::Float(read) => Value::Float(run.and_then(read)),
            Reader::TextList(read) => Value::TextList(run.map_or_else(Vec::new, read)),
            Reader::IntList(read) => Value::IntList(run.map_or_else(Vec::new, read)),
            Reader::FloatList(read) => Value::FloatList(run.map_or_else(Vec::new, read)),
        }
    }

    /// The same column, with its value after a drain.
    pub(super) const fn covering_drain(self) -> Self {
        Self { covers_drain: true, ..self }
    }
}

/// An entry of the table.
pub(super) const fn column(
    name: &'static str,
    unit: &'static str,
    meaning: &'static str,
    reader: Reader,
) -> Column {
    Column { name, unit, meaning, reader, covers_drain: false }
}

/// The columns of one subject: the meaning as a doc comment, then name, unit and reader.
macro_rules! columns {
    ($($(#[doc = $meaning:literal])+ $name:ident, $unit:literal, $kind:ident($read:expr) $(, $modifier:ident)?;)+) => {
        pub(super) const COLUMNS: &[$crate::simulation::columns::Column] = &[$(
            $crate::simulation::columns::column::column(
                stringify!($name),
                $unit,
                concat!($($meaning),+).trim_ascii_start(),
                $crate::simulation::columns::column::Reader::$kind($read),
            )$(.$modifier())?
        ),+];
    };
}
