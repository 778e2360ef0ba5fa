//! The text of a canonical configuration: JSON with sorted keys, numbers as Python writes them.
//!
//! Identities are digests of these texts, which began as those of Python's `json`.

use std::io::{self, Write};

use serde::Serialize;
use serde_json::ser::{Formatter, Serializer};
use serde_json::{Error, Value};

/// The text of a value.
pub fn to_text(value: &Value) -> Result<String, Error> {
    let mut text = Vec::new();
    value.serialize(&mut Serializer::with_formatter(&mut text, Canonical))?;
    String::from_utf8(text).map_err(|error| Error::io(io::Error::other(error)))
}

/// The text of a field of a configuration: its name and value.
pub fn to_member(name: &str, value: &Value) -> Result<String, Error> {
    Ok(format!("\"{name}\":{}", to_text(value)?))
}

struct Canonical;

impl Formatter for Canonical {
    fn write_f64<W: ?Sized + Write>(&mut self, writer: &mut W, value: f64) -> io::Result<()> {
        writer.write_all(float_text(value).as_bytes())
    }
}

/// The shortest text that reads back as `value`, with an exponent below -4 and from 16.
fn float_text(value: f64) -> String {
    let scientific = format!("{value:e}");
    let Some((digits, exponent)) = scientific.split_once('e') else { return scientific };
    let exponent: i32 = exponent.parse().unwrap_or_default();
    if (-4..16).contains(&exponent) {
        let plain = format!("{value}");
        return if plain.contains('.') { plain } else { plain + ".0" };
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{digits}e{sign}{:02}", exponent.unsigned_abs())
}
