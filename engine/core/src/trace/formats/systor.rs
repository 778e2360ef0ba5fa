//! SYSTOR'17: traces of a virtual desktop infrastructure, published with a paper at SYSTOR 2017.
//!
//! ```text
//! Timestamp,Response,IOType,LUN,Offset,Size
//! 1456000000.250000000,0.000500000,R,0,1048576,131072
//! ```
//!
//! The time is when the request was issued \[s\]. The response time \[s\] may be missing; a request without a type had no
//! response and is skipped. Offset and size are bytes. The lines are in order of completion, not of issue. The LUN is
//! the volume. The format has no process.
//!
//! C. Lee, T. Kumano, T. Matsuki, H. Endo, N. Fukumoto, M. Sugawara: Understanding Storage Traffic Characteristics on
//! Enterprise Virtual Desktop Infrastructure, SYSTOR, 2017.

use crate::trace::decoder::{BadField, Decoder, Framing, Item};
use crate::trace::problems::Problem;
use crate::trace::record::Record;
use crate::trace::text::{CsvLine, SECONDS};

/// Decoder of the csv of SYSTOR'17.
#[derive(Debug, Default)]
pub struct Systor;

impl Decoder for Systor {
    const NAME: &'static str = "systor17";
    const TITLE: &'static str = "SYSTOR'17 (csv)";
    const FRAMING: Framing = Framing::Lines;
    const HEADER: Option<&'static str> = Some("timestamp");

    #[inline]
    fn decode(&mut self, frame: &[u8]) -> Result<Item, BadField> {
        let mut line = CsvLine::new(frame);
        let time = line.time(SECONDS, "a time [s] as seconds.fraction")?;
        let mut ahead = line;
        let response = if ahead.field().bytes.is_empty() && ahead.at < frame.len() {
            line = ahead;
            None
        } else {
            Some(line.time(SECONDS, "a response time [s] as seconds.fraction, or nothing")?)
        };
        let kind = line.field();
        let volume = line.number_u32("a LUN")?;
        let extent = line.extent()?;
        if kind.bytes.is_empty() {
            return Ok(Item::Skipped(Problem::NoOperation));
        }
        let op = kind.operation("R, W or nothing")?;
        let record = Record { volume, response, ..Record::new(time, op, extent) };
        Ok(Item::transfer(record, extent.is_rounded))
    }
}
