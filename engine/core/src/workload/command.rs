//! Host commands.

use crate::trace::Op;
use crate::units::{Lba, Sectors};

/// A host command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Command {
    /// Operation.
    pub operation: Op,
    /// First sector on the array; 0 for a flush.
    pub lba: Lba,
    /// Number of sectors; 0 for a flush.
    pub sectors: Sectors,
    /// Whether a write must be on stable storage before it is acknowledged.
    pub is_forced: bool,
}

impl Command {
    /// A flush.
    pub const FLUSH: Self = Self { operation: Op::Flush, lba: Lba(0), sectors: Sectors(0), is_forced: false };
}
