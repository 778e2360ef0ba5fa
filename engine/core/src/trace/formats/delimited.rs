//! Delimited text whose columns the caller names: exports of monitoring systems and spreadsheets.
//!
//! ```text
//! when;kind;start;length
//! 12.000125;read;4096000;8192
//! ```
//!
//! Without times, every request begins at 0; without operations, it is a read; without sizes, it is one unit.
//! A [`Layout`] says what each column holds and in which unit. The format is never detected: any text could match.
//! Fields may be in double quotes. Unnamed columns are skipped.

use crate::trace::decoder::{BadField, Decoder, Framing, Item};
use crate::trace::extent::Extent;
use crate::trace::record::{Op, Record};
use crate::trace::text::{Field, SpacedLine};
use crate::units::SimDuration;

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Column {
    /// When the request was issued.
    Time,
    /// Whether it reads or writes.
    Op,
    /// The same as a number: 1 for a read, 0 for a write.
    IsRead,
    /// Where it begins.
    Offset,
    /// How much it transfers.
    Size,
    /// The number of its process.
    Process,
    /// The number of its volume.
    Volume,
    /// The recorded response time.
    Response,
}

/// Names of the columns.
const NAMES: [(&str, Column); 8] = [
    ("time", Column::Time),
    ("op", Column::Op),
    ("is_read", Column::IsRead),
    ("offset", Column::Offset),
    ("size", Column::Size),
    ("process", Column::Process),
    ("volume", Column::Volume),
    ("response", Column::Response),
];

impl Column {
    /// The column with this name.
    pub fn find(name: &str) -> Option<Self> {
        NAMES.iter().find(|(known, _)| *known == name).map(|&(_, column)| column)
    }
}

/// What the columns of a text hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    /// The columns from the left; `None` for one without a meaning.
    pub columns: Vec<Option<Column>>,
    /// The byte between two fields; a space means spaces and tabs.
    pub separator: u8,
    /// The unit of times, as a power of ten \[ns\]; at most 9.
    pub time_exponent: u32,
    /// The unit of response times, as a power of ten \[ns\]; at most 9.
    pub response_exponent: u32,
    /// The unit of offsets \[bytes\].
    pub offset_unit: u64,
    /// The unit of sizes \[bytes\].
    pub size_unit: u64,
    /// Whether the first line has the names of the columns.
    pub has_header: bool,
}

impl Default for Layout {
    fn default() -> Self {
        Self {
            columns: [Column::Time, Column::Op, Column::Offset, Column::Size].map(Some).to_vec(),
            separator: b',',
            time_exponent: 9,
            response_exponent: 9,
            offset_unit: 1,
            size_unit: 1,
            has_header: false,
        }
    }
}

/// Decoder of delimited text.
#[derive(Debug, Default)]
pub struct Delimited {
    layout: Layout,
    has_begun: bool,
}

impl Delimited {
    /// The decoder of a text with this layout.
    pub const fn new(layout: Layout) -> Self {
        Self { layout, has_begun: false }
    }

    /// The field from byte `at` on, and where the next one begins.
    fn field<'a>(&self, line: &'a [u8], mut at: usize) -> (Field<'a>, usize) {
        let separator = self.layout.separator;
        let is_spaced = separator == b' ';
        let ends = |byte: u8| byte == separator || is_spaced && byte == b'\t';
        while is_spaced && line.get(at).is_some_and(|&byte| ends(byte)) {
            at += 1;
        }
        // A missing field is after the last byte.
        at = at.min(line.len());
        let rest = &line[at..];
        let length = rest.iter().position(|&byte| ends(byte)).unwrap_or(rest.len());
        let from = at + rest[..length].iter().take_while(|byte| byte.is_ascii_whitespace()).count();
        let bytes = line.get(from..at + length).unwrap_or_default().trim_ascii_end();
        let field = match bytes {
            [b'"', inner @ .., b'"'] => Field { from: from + 1, bytes: inner },
            _ => Field { from, bytes },
        };
        (field, at + length + 1)
    }
}

/// A time in units of 10^`exponent` ns.
fn time(field: Field<'_>, exponent: u32) -> Result<SimDuration, BadField> {
    const EXPECTED: &str = "a time: a number with at most nine decimals";
    SpacedLine::new(field.bytes).time(exponent, EXPECTED).map_err(|_| field.bad(EXPECTED))
}

/// A number of `unit` bytes.
fn bytes(field: Field<'_>, unit: u64, expected: &'static str) -> Result<u64, BadField> {
    field.digits().and_then(|count| count.checked_mul(unit)).ok_or_else(|| field.bad(expected))
}

fn number_u32(field: Field<'_>, expected: &'static str) -> Result<u32, BadField> {
    field.digits().and_then(|number| number.try_into().ok()).ok_or_else(|| field.bad(expected))
}

impl Decoder for Delimited {
    const NAME: &'static str = "columns";
    const TITLE: &'static str = "delimited text with named columns";
    const FRAMING: Framing = Framing::Lines;

    fn decode(&mut self, frame: &[u8]) -> Result<Item, BadField> {
        if !std::mem::replace(&mut self.has_begun, true) && self.layout.has_header {
            return Ok(Item::Ignored);
        }
        let mut record = Record::new(SimDuration(0), Op::Read, Extent::of_sectors(0, 0));
        let (mut offset, mut size, mut at) = (0, self.layout.size_unit, 0);
        let mut last = Field { from: 0, bytes: frame };
        for column in &self.layout.columns {
            let (field, next) = self.field(frame, at);
            at = next;
            let Some(column) = column else { continue };
            match column {
                Column::Time => record.time = time(field, self.layout.time_exponent)?,
                Column::Op => {
                    record.op = match field.bytes {
                        b"0" => Op::Read,
                        b"1" => Op::Write,
                        _ => field.operation("r, w, read, write, 0 for a read or 1 for a write")?,
                    }
                }
                Column::IsRead => {
                    record.op = match field.bytes {
                        b"0" => Op::Write,
                        b"1" => Op::Read,
                        _ => return Err(field.bad("1 for a read or 0 for a write")),
                    }
                }
                Column::Offset => {
                    offset = bytes(field, self.layout.offset_unit, "an offset within 2^64 bytes")?;
                }
                Column::Size => {
                    size = bytes(field, self.layout.size_unit, "a size within 2^64 bytes")?;
                    last = field;
                }
                Column::Process => record.process = number_u32(field, "a process number")?,
                Column::Volume => record.volume = number_u32(field, "a volume number")?,
                Column::Response if field.bytes.is_empty() => {}
                Column::Response => record.response = Some(time(field, self.layout.response_exponent)?),
            }
        }
        let extent = Extent::of_bytes(offset, size)
            .ok_or_else(|| last.bad("a size of less than 2 TiB, within 2^64 bytes"))?;
        (record.lba, record.sectors) = (extent.lba, extent.sectors);
        Ok(Item::transfer(record, extent.is_rounded))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::{Reader, ReaderOptions, Record, TraceError};

    fn read(layout: Layout, text: &str) -> Result<Vec<Record>, TraceError> {
        let mut reader = Reader::delimited(layout, ReaderOptions::default());
        reader.feed(text.as_bytes())?;
        reader.finish()?;
        Ok(reader.take().collect())
    }

    fn shape(record: &Record) -> (u64, Op, u64, u64) {
        (record.time.0, record.op, record.lba.0, record.sectors.0)
    }

    #[test]
    fn columns_are_read_by_their_place_and_unit() {
        let layout = Layout {
            columns: vec![
                None,
                Some(Column::Size),
                Some(Column::Op),
                Some(Column::Time),
                Some(Column::Offset),
                Some(Column::Volume),
                Some(Column::Response),
            ],
            separator: b';',
            time_exponent: 6,
            response_exponent: 3,
            offset_unit: 512,
            size_unit: 4096,
            has_header: true,
        };
        let text = "a;b;c;d;e;f;g\nx; 2 ;\"W\";1.5;10;7;250\ny;1;0;2;3;0;\n";
        let found = read(layout, text).unwrap();
        assert_eq!(
            found.iter().map(shape).collect::<Vec<_>>(),
            [(1_500_000, Op::Write, 10, 16), (2_000_000, Op::Read, 3, 8)]
        );
        assert_eq!(found[0].volume, 7);
        assert_eq!(
            found.iter().map(|record| record.response).collect::<Vec<_>>(),
            [Some(SimDuration(250_000)), None]
        );
    }

    #[test]
    fn block_numbers_alone_are_reads_of_one_block_each() {
        let columns = vec![Some(Column::Offset)];
        let layout =
            Layout { columns, separator: b' ', offset_unit: 4096, size_unit: 4096, ..Layout::default() };
        let found = read(layout, "7\n0\n7\n").unwrap();
        assert_eq!(
            found.iter().map(shape).collect::<Vec<_>>(),
            [(0, Op::Read, 56, 8), (0, Op::Read, 0, 8), (0, Op::Read, 56, 8)]
        );
    }

    #[test]
    fn every_word_of_an_operation_is_understood() {
        let words = ["r", "R", "read", "READ", "Read", "0", "w", "W", "write", "WRITE", "Write", "1"];
        for (place, word) in words.iter().enumerate() {
            let found = read(Layout::default(), &format!("1,{word},0,512\n")).unwrap();
            assert_eq!(found[0].op, if place < 6 { Op::Read } else { Op::Write }, "{word}");
        }
    }

    #[test]
    fn one_may_stand_for_a_read() {
        let columns = [Column::Time, Column::IsRead, Column::Offset, Column::Size].map(Some).to_vec();
        let layout = Layout { columns, ..Layout::default() };
        let found = read(layout.clone(), "0.0,1,0,512\n1.0,0,512,512\n").unwrap();
        assert_eq!(found.iter().map(|record| record.op).collect::<Vec<_>>(), [Op::Read, Op::Write]);
        assert_eq!(read(layout, "0.0,r,0,512\n").unwrap_err().place(), "line 1, column 5");
    }

    #[test]
    fn spaces_separate_once_and_tabs_each() {
        let spaced = Layout { separator: b' ', ..Layout::default() };
        assert_eq!(
            shape(&read(spaced, "  3   r \t 512  1024\n").unwrap()[0]),
            (3_000_000_000, Op::Read, 1, 2)
        );
        let columns = [Some(Column::Time), None, Some(Column::Op), Some(Column::Offset), Some(Column::Size)];
        let tabbed = Layout { separator: b'\t', columns: columns.to_vec(), ..Layout::default() };
        assert_eq!(shape(&read(tabbed, "3\t\tw\t512\t1024").unwrap()[0]), (3_000_000_000, Op::Write, 1, 2));
    }

    #[test]
    fn a_bad_field_has_its_line_and_column() {
        for (text, place) in [
            ("1,r,0,512\n2,x,0,512\n", "line 2, column 3"),
            ("1,r,0\n", "line 1, column 6"),
            ("1,r,-4,512\n", "line 1, column 5"),
            ("1e3,r,0,512\n", "line 1, column 1"),
            ("1,r,18446744073709551615,512\n", "line 1, column 26"),
        ] {
            assert_eq!(read(Layout::default(), text).unwrap_err().place(), place, "{text}");
        }
    }
}
