//! Alibaba: the block traces of Alibaba Cloud (2020).
//!
//! ```text
//! device_id,opcode,offset [bytes],length [bytes],timestamp [us]
//! 419,W,8792731648,16384,1577808144360767
//! ```
//!
//! The device is the volume. Neither process nor response time is recorded.
//!
//! J. Li, Q. Wang, P. P. C. Lee, C. Shi: An In-Depth Analysis of Cloud Block Storage Workloads in Large-Scale
//! Production, IISWC, 2020.

use super::super::frame::{Bad, Decode, Frame, Item};
use super::super::text::{Line, MICROSECONDS};
use super::csv::{extent, operation};
use crate::trace::{Flags, Record};
use crate::units::SimDuration;

/// Reader of Alibaba's csv.
#[derive(Debug, Default)]
pub struct Alibaba;

impl Decode for Alibaba {
    const NAME: &'static str = "alibaba";
    const TITLE: &'static str = "Alibaba Cloud block trace (csv)";
    const FRAME: Frame = Frame::Line;
    const HEADING: Option<&'static str> = Some("device");

    #[inline]
    fn decode(&mut self, frame: &[u8]) -> Result<Item, Bad> {
        let mut line = Line::new(frame);
        let volume = line.number(u32::MAX.into(), "a device number")? as u32;
        let op = operation(line.cell(), "R or W")?;
        let (lba, sectors, is_rounded) = extent(&mut line)?;
        let time = SimDuration(line.time(MICROSECONDS, "a time [us]")?);
        Ok(Item::rounded_if(
            is_rounded,
            Record { time, process: 0, volume, lba, sectors, op, flags: Flags::NONE, response: None },
        ))
    }
}
