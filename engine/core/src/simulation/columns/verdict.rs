//! How the run ended.

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

columns! {
    /// ok, not_stationary, overloaded, array_failed or failed
    status, "", Text(|verdict| Some(verdict.status));
    /// what did not become steady if the status is not_stationary: response, write_cache, or input if it ended
    /// first
    unsettled, "", Text(|verdict| verdict.unsettled);
    /// about the max_requests with which the write cache would become steady, if the status is not_stationary
    requests_needed, "count", Int(|run| run.control.unsettled.and_then(Unsettled::requests_needed));
    /// configuration, trace, deadlock, limit or panic; infrastructure, oom or timeout if the run was not
    /// executed
    error_kind, "", Text(|verdict| verdict.error.map(|(kind, _)| kind));
    /// message of the error
    error, "", Text(|verdict| verdict.error.map(|(_, message)| message));
}
