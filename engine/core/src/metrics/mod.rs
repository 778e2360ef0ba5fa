//! Statistics of a run.

pub mod batch_means;
pub mod cycle_means;
pub mod histogram;
pub mod mser;
pub mod swings;

pub use batch_means::BatchMeans;
pub(crate) use batch_means::student_t::two_sided;
pub use cycle_means::CycleMeans;
pub use histogram::{Bucket, Histogram};
pub use mser::{Mser5, Truncation};
pub use swings::Swings;
