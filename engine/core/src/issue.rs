//! A mistake in a configuration, or the reason why a run failed.

use std::fmt;

use serde::Serialize;

/// A mistake in a configuration, or the reason why a run failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Issue {
    /// Stable code, such as `scenario.out-of-range`.
    pub code: &'static str,
    /// Dotted path of the parameter; empty for the whole.
    pub place: String,
    /// What is wrong, and what is allowed.
    pub message: String,
}

impl Issue {
    /// An issue at `place`.
    pub fn new(code: &'static str, place: impl Into<String>, message: impl Into<String>) -> Self {
        Self { code, place: place.into(), message: message.into() }
    }
}

impl fmt::Display for Issue {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { code, place, message } = self;
        if place.is_empty() {
            write!(out, "{code}: {message}")
        } else {
            write!(out, "{code} at {place}: {message}")
        }
    }
}
