//! RAID: which disk holds what, and what a write costs in disk I/Os.
//!
//! [`Layout`] maps an array's addresses to its disks; [`choose`] decides how parity is brought up to date, and
//! [`DegradedReads`] what a stripe with missing members has to read.

mod degraded;
mod layout;
mod level;
mod update;

pub use degraded::{DegradedReads, StripPart};
pub use layout::{Layout, LayoutError, Piece, Pieces, Strip};
pub use level::{DEFAULT_GROUPS, Level};
pub use update::{ParityUpdate, StripWrite, Touched, Update, choose};
