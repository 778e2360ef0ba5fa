//! How the run ended.

use super::Column;
use super::column::{
    Reader::{Int, Text},
    column,
};
use crate::simulation::run_control::Unsettled;

/// How a run ended, whether it gave figures or not.
#[derive(Clone, Copy, Debug)]
pub struct Verdict<'a> {
    /// Whether its figures may be used.
    pub status: &'a str,
    /// What did not become steady, where the status is `not_stationary`.
    pub unsettled: Option<&'a str>,
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
        "unsettled",
        "",
        "what did not become steady if the status is not_stationary: response, write_cache, or input if it ended first",
        Text(|verdict| verdict.unsettled),
    ),
    column(
        "requests_needed",
        "count",
        "about the max_requests with which the write cache would become steady, if the status is not_stationary",
        Int(|run| run.control.unsettled.and_then(Unsettled::requests_needed)),
    ),
    column(
        "error_kind",
        "",
        "configuration, trace, deadlock, limit or panic; infrastructure, oom or timeout where a run was not executed",
        Text(|verdict| verdict.error.map(|(kind, _)| kind)),
    ),
    column("error", "", "message of the error", Text(|verdict| verdict.error.map(|(_, message)| message))),
];
