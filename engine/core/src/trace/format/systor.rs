//! SYSTOR'17: the traces of a virtual desktop infrastructure that were published with a paper at SYSTOR 2017.
//!
//! ```text
//! Timestamp,Response,IOType,LUN,Offset,Size
//! 1456000000.250000000,0.000500000,R,0,1048576,131072
//! ```
//!
//! The time is when the request was issued \[s\]; the response time \[s\] may be missing, and the type is missing where
//! there was no response: such a request is left out. Offset and size are bytes. The lines are in order of completion,
//! not of issue. The LUN is the volume; no process is recorded.
//!
//! C. Lee, T. Kumano, T. Matsuki, H. Endo, N. Fukumoto, M. Sugawara: Understanding Storage Traffic Characteristics on
//! Enterprise Virtual Desktop Infrastructure, SYSTOR, 2017.

use super::super::frame::{Bad, Decode, Frame, Item};
use super::super::problems::Problem;
use super::super::text::{Line, SECONDS};
use super::csv::{extent, operation};
use crate::trace::{Flags, Record};
use crate::units::SimDuration;

/// Reader of the csv of SYSTOR'17.
#[derive(Debug, Default)]
pub struct Systor;

impl Decode for Systor {
    const NAME: &'static str = "systor17";
    const TITLE: &'static str = "SYSTOR'17 (csv)";
    const FRAME: Frame = Frame::Line;
    const HEADING: Option<&'static str> = Some("timestamp");

    #[inline]
    fn decode(&mut self, frame: &[u8]) -> Result<Item, Bad> {
        let mut line = Line::new(frame);
        let time = SimDuration(line.time(SECONDS, "a time [s] as seconds.fraction")?);
        let mut ahead = line;
        let response = if ahead.cell().bytes.is_empty() && ahead.at < frame.len() {
            line = ahead;
            None
        } else {
            Some(SimDuration(line.time(SECONDS, "a response time [s] as seconds.fraction, or nothing")?))
        };
        let kind = line.cell();
        let volume = line.number(u32::MAX.into(), "the number of a LUN")? as u32;
        let (lba, sectors, is_rounded) = extent(&mut line)?;
        if kind.bytes.is_empty() {
            return Ok(Item::Left(Problem::NoKind));
        }
        let op = operation(kind, "R, W or nothing")?;
        let record = Record { time, process: 0, volume, lba, sectors, op, flags: Flags::NONE, response };
        Ok(Item::rounded_if(is_rounded, record))
    }
}
