//! How the run ended.

/// How a run ended, whether it gave figures or not.
#[derive(Clone, Copy, Debug)]
pub struct Verdict<'a> {
    /// Whether its figures may be used.
    pub status: &'a str,
    /// Kind and message of the error that ended it.
    pub error: Option<(&'a str, &'a str)>,
}

columns! {
    /// ok, not_stationary, overloaded, array_failed or failed
    status, "", Text(|verdict| Some(verdict.status));
    /// configuration, trace, deadlock, limit or panic; infrastructure, oom or timeout if the run was not
    /// executed
    error_kind, "", Text(|verdict| verdict.error.map(|(kind, _)| kind));
    /// message of the error
    error, "", Text(|verdict| verdict.error.map(|(_, message)| message));
}
