//! How the run ended.

use super::Column;
use super::column::{Reader::Text, column};

/// How a run ended, whether it gave figures or not.
#[derive(Clone, Copy, Debug)]
pub struct Verdict<'a> {
    /// Whether its figures may be used.
    pub status: &'a str,
    /// Kind and message of the error that ended it.
    pub error: Option<(&'a str, &'a str)>,
}

pub(super) const COLUMNS: &[Column] = &[
    column(
        "status",
        "",
        "ok, not_stationary, overloaded, array_failed or failed",
        Text(|verdict| Some(verdict.status)),
    ),
    column(
        "error_kind",
        "",
        "configuration, trace, deadlock, limit or panic; infrastructure, oom or timeout if the run was not executed",
        Text(|verdict| verdict.error.map(|(kind, _)| kind)),
    ),
    column("error", "", "message of the error", Text(|verdict| verdict.error.map(|(_, message)| message))),
];
