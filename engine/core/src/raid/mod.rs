//! RAID: which disk holds what, and what a write costs in disk I/Os.
//!
//! [`Layout`] maps an array's addresses to its disks; [`choose`] decides how parity is brought up to date.

mod layout;
mod update;

pub use layout::{DEFAULT_GROUPS, Layout, LayoutError, Level, Piece, Pieces, Strip};
pub use update::{ParityUpdate, StripWrite, Touched, Update, choose};
