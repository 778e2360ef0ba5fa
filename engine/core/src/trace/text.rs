//! Text lines: a cursor over the fields of a line.
//!
//! A value is parsed in place, without a copy and without looking at the rest of the line. Cost: about a nanosecond per
//! digit.

use super::decoder::BadField;
use super::extent::Extent;
use super::record::Op;
use crate::units::SimDuration;

/// Nanoseconds per second, as a power of ten.
pub(super) const SECONDS: u32 = 9;
/// Nanoseconds per millisecond, as a power of ten.
pub(super) const MILLISECONDS: u32 = 6;
/// Nanoseconds per microsecond, as a power of ten.
pub(super) const MICROSECONDS: u32 = 3;

/// Largest sector address.
pub(super) const LAST_LBA: u64 = (1 << 63) - 1;

/// Maximum digits of a fraction.
const FRACTION: usize = 9;

const TOO_LARGE: &str = "a size [bytes] of less than 2 TiB, within 2^64 bytes";

/// A cursor over a line whose fields end with `SEPARATOR`; a space means spaces and tabs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Line<'a, const SEPARATOR: u8> {
    pub bytes: &'a [u8],
    pub at: usize,
}

/// A line whose fields end with a comma.
pub(super) type CsvLine<'a> = Line<'a, b','>;
/// A line whose fields end with spaces.
pub(super) type SpacedLine<'a> = Line<'a, b' '>;

impl<'a, const SEPARATOR: u8> Line<'a, SEPARATOR> {
    const IS_CSV: bool = SEPARATOR != b' ';

    pub const fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    /// What was not read yet.
    #[inline]
    pub fn rest(&self) -> &'a [u8] {
        &self.bytes[self.at..]
    }

    #[inline]
    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    #[inline]
    const fn is_separator(byte: u8) -> bool {
        byte == SEPARATOR || !Self::IS_CSV && byte == b'\t'
    }

    /// Skips spaces and tabs.
    #[inline]
    pub fn skip_spaces(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t')) {
            self.at += 1;
        }
    }

    /// The next field, without the spaces around it. A comma after it is skipped.
    #[inline]
    pub fn field(&mut self) -> Field<'a> {
        self.skip_spaces();
        let from = self.at;
        while self.peek().is_some_and(|byte| !Self::is_separator(byte)) {
            self.at += 1;
        }
        let mut bytes = &self.bytes[from..self.at];
        if Self::IS_CSV {
            bytes = bytes.trim_ascii_end();
            self.at += usize::from(self.at < self.bytes.len());
        }
        Field { from, bytes }
    }

    /// The number that the digits from here on form; `None` without digits or beyond 2^64.
    #[inline]
    fn digits(&mut self) -> Option<u64> {
        let from = self.at;
        let mut number = 0_u64;
        while let Some(byte) = self.peek() {
            let digit = byte.wrapping_sub(b'0');
            if digit > 9 {
                break;
            }
            // Nineteen digits always fit; more are rare enough to be checked one by one.
            number = if self.at - from < 19 {
                number * 10 + u64::from(digit)
            } else {
                number.checked_mul(10)?.checked_add(digit.into())?
            };
            self.at += 1;
        }
        (self.at > from).then_some(number)
    }

    /// Ends a field, and skips a comma after it; `None` if something else follows.
    #[inline]
    fn end_field(&mut self) -> Option<()> {
        match self.peek() {
            None => Some(()),
            Some(byte) if Self::is_separator(byte) => {
                self.at += usize::from(Self::IS_CSV);
                Some(())
            }
            Some(b' ' | b'\t') => {
                self.skip_spaces();
                matches!(self.field(), Field { bytes: [], .. }).then_some(())
            }
            Some(_) => None,
        }
    }

    /// A field with a value that `parse` reads.
    #[inline]
    fn value(
        &mut self,
        expected: &'static str,
        parse: impl FnOnce(&mut Self) -> Option<u64>,
    ) -> Result<u64, BadField> {
        self.skip_spaces();
        let from = self.at;
        match parse(self) {
            Some(value) if self.end_field().is_some() => Ok(value),
            _ => Err(self.bad(from, expected)),
        }
    }

    /// A whole number of at most `most`.
    #[inline]
    pub fn number(&mut self, most: u64, expected: &'static str) -> Result<u64, BadField> {
        self.value(expected, |line| line.digits().filter(|&number| number <= most))
    }

    /// A whole number below 2^32.
    #[inline]
    pub fn number_u32(&mut self, expected: &'static str) -> Result<u32, BadField> {
        self.number(u32::MAX.into(), expected).map(|number| number as u32)
    }

    /// A time in units of 10^`exponent` ns \[ns\]: at most nine decimals, cut off below a nanosecond.
    #[inline]
    pub fn time(&mut self, exponent: u32, expected: &'static str) -> Result<SimDuration, BadField> {
        self.value(expected, |line| line.decimal(exponent)).map(SimDuration)
    }

    /// A time in whole seconds \[ns\].
    #[inline]
    pub fn seconds(&mut self) -> Result<SimDuration, BadField> {
        const SECOND: u64 = 10_u64.pow(SECONDS);
        self.number((1 << 63) / SECOND, "a time [s]").map(|seconds| SimDuration(seconds * SECOND))
    }

    /// A time in microseconds, added to `start` \[ns\].
    pub fn time_after(
        &mut self,
        start: Option<u64>,
        expected: &'static str,
    ) -> Result<SimDuration, BadField> {
        let from = self.at;
        let time = self.time(MICROSECONDS, expected)?;
        let sum = start.and_then(|start| start.checked_add(time.0)).map(SimDuration);
        sum.ok_or_else(|| self.bad(from, "times of less than 2^64 ns together"))
    }

    #[inline]
    fn decimal(&mut self, exponent: u32) -> Option<u64> {
        let whole = self.digits()?.checked_mul(10_u64.pow(exponent))?;
        if self.peek() != Some(b'.') {
            return Some(whole);
        }
        self.at += 1;
        let from = self.at;
        let fraction = self.digits()?;
        let places = (self.at - from) as u32;
        if places as usize > FRACTION {
            return None;
        }
        let fraction = if places <= exponent {
            fraction * 10_u64.pow(exponent - places)
        } else {
            fraction / 10_u64.pow(places - exponent)
        };
        whole.checked_add(fraction)
    }

    /// A size in bytes: the sectors touched from byte `offset` on.
    #[inline]
    pub fn size(&mut self, offset: u64) -> Result<Extent, BadField> {
        let from = self.at;
        let size = self.number(u64::MAX, "a size [bytes]")?;
        Extent::of_bytes(offset, size).ok_or_else(|| self.bad(from, TOO_LARGE))
    }

    /// An offset and a size in bytes: the sectors touched.
    #[inline]
    pub fn extent(&mut self) -> Result<Extent, BadField> {
        let offset = self.number(u64::MAX, "an offset [bytes]")?;
        self.size(offset)
    }

    /// The field that begins at `from`, as the one that does not match.
    #[cold]
    pub fn bad(&self, from: usize, expected: &'static str) -> BadField {
        let mut line = Self { bytes: self.bytes, at: from };
        line.field().bad(expected)
    }
}

/// A field of a line.
#[derive(Clone, Copy, Debug)]
pub(super) struct Field<'a> {
    /// Where it begins in its line.
    pub from: usize,
    pub bytes: &'a [u8],
}

impl Field<'_> {
    /// This field as the one that does not match.
    #[cold]
    pub const fn bad(&self, expected: &'static str) -> BadField {
        BadField { from: self.from, to: self.from + self.bytes.len(), expected }
    }

    /// Its value as a whole number.
    #[inline]
    pub fn digits(&self) -> Option<u64> {
        let mut line = SpacedLine::new(self.bytes);
        line.digits().filter(|_| line.at == self.bytes.len())
    }

    /// Its value as a hexadecimal number, with or without 0x before it.
    pub fn hexadecimal(&self) -> Option<u64> {
        let digits = self.bytes.strip_prefix(b"0x").or_else(|| self.bytes.strip_prefix(b"0X"));
        let digits = digits.unwrap_or(self.bytes);
        if digits.is_empty() || digits.len() > 16 {
            return None;
        }
        digits
            .iter()
            .try_fold(0_u64, |number, &byte| Some(number << 4 | u64::from((byte as char).to_digit(16)?)))
    }

    /// Offset and size in hexadecimal bytes: the sectors touched.
    pub fn hexadecimal_extent(&self, size: &Self) -> Result<Extent, BadField> {
        let offset = self.hexadecimal().ok_or_else(|| self.bad("an offset in hexadecimal digits [bytes]"))?;
        let bytes = size.hexadecimal().ok_or_else(|| size.bad("a size in hexadecimal digits [bytes]"))?;
        Extent::of_bytes(offset, bytes).ok_or_else(|| size.bad(TOO_LARGE))
    }

    /// Its value as an operation: `R` or `W`, or the whole word, in any case.
    #[inline]
    pub fn operation(&self, expected: &'static str) -> Result<Op, BadField> {
        match self.bytes {
            b"R" | b"r" => Ok(Op::Read),
            b"W" | b"w" => Ok(Op::Write),
            word if word.eq_ignore_ascii_case(b"read") => Ok(Op::Read),
            word if word.eq_ignore_ascii_case(b"write") => Ok(Op::Write),
            _ => Err(self.bad(expected)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_end_where_their_field_ends() {
        let mut line = CsvLine::new(b"12, 34 ,56");
        assert_eq!([(); 3].map(|()| line.number(99, "").unwrap()), [12, 34, 56]);
        assert!(line.number(99, "").is_err());
        for text in ["12x", "x", "", "-1", "100", "1 2", "184467440737095516160"] {
            assert!(CsvLine::new(text.as_bytes()).number(99, "").is_err(), "{text}");
        }
        assert_eq!(CsvLine::new(b"18446744073709551615").number(u64::MAX, "").unwrap(), u64::MAX);
        assert!(CsvLine::new(b"18446744073709551616").number(u64::MAX, "").is_err());
    }

    #[test]
    fn times_are_read_in_nanoseconds() {
        let time =
            |text: &str, exponent| CsvLine::new(text.as_bytes()).time(exponent, "").ok().map(|time| time.0);
        assert_eq!(time("1.5", SECONDS), Some(1_500_000_000));
        assert_eq!(time("0.551706", SECONDS), Some(551_706_000));
        assert_eq!(time("7", SECONDS), Some(7_000_000_000));
        assert_eq!(time("13.191135", MILLISECONDS), Some(13_191_135));
        assert_eq!(time("15362.00000", MICROSECONDS), Some(15_362_000));
        assert_eq!(time("1.0019", MICROSECONDS), Some(1_001));
        for text in ["", ".5", "1.", "1.5.", "1e3", "-1", "0.0000000001", "18446744074"] {
            assert_eq!(time(text, SECONDS), None, "{text}");
        }
    }

    #[test]
    fn hexadecimal_numbers() {
        let value = |bytes: &'static str| Field { from: 0, bytes: bytes.as_bytes() }.hexadecimal();
        assert_eq!(value("0x00ff"), Some(255));
        assert_eq!(value("2a"), Some(42));
        assert_eq!(value("ffffffffffffffff"), Some(u64::MAX));
        for text in ["", "0x", "g", "00000000000000000", "+1"] {
            assert_eq!(value(text), None, "{text}");
        }
    }
}
