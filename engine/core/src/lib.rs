//! Discrete-event simulation of disk arrays behind a controller with a battery-backed write cache.
#![forbid(unsafe_code)]

pub mod units;
