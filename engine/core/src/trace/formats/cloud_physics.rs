//! CloudPhysics csv: the vscsi traces of CloudPhysics as text.
//!
//! ```text
//! version,time [s],op [SCSI, hex],size [bytes],lbn [512 bytes]
//! 1,5000000,2a,512,4096
//! ```
//!
//! Times are mostly whole seconds: the records of a second are spread evenly over it in their order. The format has no
//! process, volume or response time.

use super::scsi::ScsiCommand;
use crate::trace::decoder::{BadField, Decoder, Framing, Item};
use crate::trace::record::Record;
use crate::trace::text::{CsvLine, LAST_LBA};
use crate::units::Lba;

/// Decoder of CloudPhysics' csv.
#[derive(Debug, Default)]
pub struct CloudPhysics;

impl Decoder for CloudPhysics {
    const NAME: &'static str = "cloudphysics_csv";
    const TITLE: &'static str = "CloudPhysics (csv)";
    const FRAMING: Framing = Framing::Lines;
    const IS_WHOLE_SECONDS: bool = true;
    const HEADER: Option<&'static str> = Some("version");

    #[inline]
    fn decode(&mut self, frame: &[u8]) -> Result<Item, BadField> {
        let mut line = CsvLine::new(frame);
        line.number(2, "the version, 1 or 2")?;
        let time = line.seconds()?;
        let op = line.field();
        let code = op.hexadecimal().and_then(|code| u8::try_from(code).ok());
        let code = code.ok_or_else(|| op.bad("a SCSI command in hexadecimal digits, such as 28 or 2a"))?;
        let extent = line.size(0)?;
        let lba = Lba(line.number(LAST_LBA, "a block address [512 bytes]")?);
        Ok(match ScsiCommand::of_code(code) {
            ScsiCommand::Other(problem) => Item::Skipped(problem),
            ScsiCommand::Flush => Item::Record(Record::flush(time)),
            ScsiCommand::Transfer(op) => {
                Item::transfer(Record { lba, ..Record::new(time, op, extent) }, extent.is_rounded)
            }
        })
    }
}
