//! Text: a line, a place in it, and the values that stand there.
//!
//! A value is read where it stands, without a copy, and without a look at the rest of the line. Cost: about a
//! nanosecond for each digit.

use super::frame::Bad;
use crate::units::{Lba, SECTOR_BYTES, Sectors};

/// Nanoseconds of a second, a millisecond and so on, as powers of ten.
pub(super) const SECONDS: u32 = 9;
/// See [`SECONDS`].
pub(super) const MILLISECONDS: u32 = 6;
/// See [`SECONDS`].
pub(super) const MICROSECONDS: u32 = 3;

/// Digits of a fraction that are taken: down to the nanosecond where the unit is the second.
const FRACTION: usize = 9;

/// A line with a place in it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Line<'a> {
    pub bytes: &'a [u8],
    pub at: usize,
}

impl<'a> Line<'a> {
    pub const fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    /// What has not been read.
    #[inline]
    pub fn rest(&self) -> &'a [u8] {
        &self.bytes[self.at..]
    }

    #[inline]
    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    /// Skips spaces and tabs.
    #[inline]
    pub fn skip_spaces(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t')) {
            self.at += 1;
        }
    }

    /// The field up to the next comma or the end, spaces around it left out; the place is behind the comma then.
    #[inline]
    pub fn cell(&mut self) -> Cell<'a> {
        self.skip_spaces();
        let from = self.at;
        while self.peek().is_some_and(|byte| byte != b',') {
            self.at += 1;
        }
        let bytes = self.bytes[from..self.at].trim_ascii_end();
        self.at += usize::from(self.at < self.bytes.len());
        Cell { from, bytes }
    }

    /// The field up to the next space or the end, spaces before it skipped.
    #[inline]
    pub fn word(&mut self) -> Cell<'a> {
        self.skip_spaces();
        let from = self.at;
        while self.peek().is_some_and(|byte| byte != b' ' && byte != b'\t') {
            self.at += 1;
        }
        Cell { from, bytes: &self.bytes[from..self.at] }
    }

    /// The digits from here on as a number, as many as there are; `None` where there is none or it is too large.
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

    /// Ends a value: spaces, then a comma where `is_cell`, or a space, or the end.
    #[inline]
    fn end_value(&mut self, is_cell: bool) -> Option<()> {
        match self.peek() {
            None => Some(()),
            Some(b',') if is_cell => {
                self.at += 1;
                Some(())
            }
            Some(b' ' | b'\t') => {
                if is_cell {
                    self.skip_spaces();
                    return match self.peek() {
                        None => Some(()),
                        Some(b',') => {
                            self.at += 1;
                            Some(())
                        }
                        Some(_) => None,
                    };
                }
                Some(())
            }
            Some(_) => None,
        }
    }

    #[inline]
    fn whole(&mut self, is_cell: bool, most: u64, expected: &'static str) -> Result<u64, Bad> {
        self.skip_spaces();
        let from = self.at;
        match self.digits() {
            Some(number) if number <= most && self.end_value(is_cell).is_some() => Ok(number),
            _ => Err(self.bad(from, is_cell, expected)),
        }
    }

    /// A whole number of at most `most`, in a field that ends with a comma.
    #[inline]
    pub fn number(&mut self, most: u64, expected: &'static str) -> Result<u64, Bad> {
        self.whole(true, most, expected)
    }

    /// A whole number of at most `most`, in a field that ends with a space.
    #[inline]
    pub fn spaced_number(&mut self, most: u64, expected: &'static str) -> Result<u64, Bad> {
        self.whole(false, most, expected)
    }

    /// A number with up to nine digits behind a point, times 10^`exponent`; what is left behind the point is cut.
    #[inline]
    fn scaled(&mut self, is_cell: bool, exponent: u32, expected: &'static str) -> Result<u64, Bad> {
        self.skip_spaces();
        let from = self.at;
        let value = self.point_number(exponent);
        match value {
            Some(number) if self.end_value(is_cell).is_some() => Ok(number),
            _ => Err(self.bad(from, is_cell, expected)),
        }
    }

    #[inline]
    fn point_number(&mut self, exponent: u32) -> Option<u64> {
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

    /// A time in a field that ends with a comma, in units of 10^`exponent` ns \[ns\].
    #[inline]
    pub fn time(&mut self, exponent: u32, expected: &'static str) -> Result<u64, Bad> {
        self.scaled(true, exponent, expected)
    }

    /// A time in a field that ends with a space, in units of 10^`exponent` ns \[ns\].
    #[inline]
    pub fn spaced_time(&mut self, exponent: u32, expected: &'static str) -> Result<u64, Bad> {
        self.scaled(false, exponent, expected)
    }

    /// The field that begins at `from`, as what is wrong.
    #[cold]
    fn bad(&self, from: usize, is_cell: bool, expected: &'static str) -> Bad {
        let rest = &self.bytes[from.min(self.bytes.len())..];
        let is_end = |byte: &u8| if is_cell { *byte == b',' } else { matches!(*byte, b' ' | b'\t') };
        let end = rest.iter().position(is_end).unwrap_or(rest.len());
        Bad { from, to: from + end, expected }
    }
}

/// A field of a line.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cell<'a> {
    /// Where it begins in its line.
    pub from: usize,
    pub bytes: &'a [u8],
}

impl Cell<'_> {
    /// This field as what is wrong.
    #[cold]
    pub const fn bad(&self, expected: &'static str) -> Bad {
        Bad { from: self.from, to: self.from + self.bytes.len(), expected }
    }

    /// Its digits as a number; nothing else may stand in it.
    #[inline]
    pub fn digits(&self) -> Option<u64> {
        let mut line = Line::new(self.bytes);
        line.digits().filter(|_| line.at == self.bytes.len())
    }

    /// A number in hexadecimal digits, with or without 0x before them.
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
}

/// The sectors that `size` bytes from byte `offset` on touch, and whether that is more than was asked for; `None` where
/// they are beyond all addresses.
#[inline]
pub(super) fn sectors_of(offset: u64, size: u64) -> Option<(Lba, Sectors, bool)> {
    let end = offset.checked_add(size)?;
    let first = offset / SECTOR_BYTES;
    let sectors = end.div_ceil(SECTOR_BYTES) - first;
    let is_rounded = !(offset | size).is_multiple_of(SECTOR_BYTES);
    (sectors <= u32::MAX.into()).then_some((Lba(first), Sectors(sectors), is_rounded))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_end_where_their_field_ends() {
        let mut line = Line::new(b"12, 34 ,56");
        assert_eq!([(); 3].map(|()| line.number(99, "").unwrap()), [12, 34, 56]);
        assert!(line.number(99, "").is_err());
        for text in ["12x", "x", "", "-1", "100", "1 2", "184467440737095516160"] {
            assert!(Line::new(text.as_bytes()).number(99, "").is_err(), "{text}");
        }
        assert_eq!(Line::new(b"18446744073709551615").number(u64::MAX, "").unwrap(), u64::MAX);
        assert!(Line::new(b"18446744073709551616").number(u64::MAX, "").is_err());
    }

    #[test]
    fn times_come_out_in_nanoseconds() {
        let time = |text: &str, exponent| Line::new(text.as_bytes()).time(exponent, "").ok();
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
    fn bytes_are_rounded_outward_to_sectors() {
        assert_eq!(sectors_of(1024, 512), Some((Lba(2), Sectors(1), false)));
        assert_eq!(sectors_of(1000, 100), Some((Lba(1), Sectors(2), true)));
        assert_eq!(sectors_of(511, 1), Some((Lba(0), Sectors(1), true)));
        assert_eq!(sectors_of(0, 0), Some((Lba(0), Sectors(0), false)));
        assert_eq!(sectors_of(u64::MAX, 1), None);
        assert_eq!(sectors_of(0, 1 << 42), None);
    }

    #[test]
    fn hexadecimal_numbers() {
        let value = |bytes: &'static str| Cell { from: 0, bytes: bytes.as_bytes() }.hexadecimal();
        assert_eq!(value("0x00ff"), Some(255));
        assert_eq!(value("2a"), Some(42));
        assert_eq!(value("ffffffffffffffff"), Some(u64::MAX));
        for text in ["", "0x", "g", "00000000000000000", "+1"] {
            assert_eq!(value(text), None, "{text}");
        }
    }
}
