//! Service times of a disk, request by request.

use destage_core::config::Disk;
use destage_core::disk::replay::{Recorded, service_times};
use destage_core::units::{Lba, SimDuration};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use serde_json::Value;

use crate::errors;

fn words(bytes: &[u8]) -> impl Iterator<Item = u64> {
    bytes.as_chunks().0.iter().map(|word| u64::from_le_bytes(*word))
}

/// The service time [ns] of each request of a recorded sequence, one outstanding at a time.
///
/// `disk` is a disk of a scenario's canonical form, as JSON. `lba`, `sectors` and `gap_ns` (from completion to the next
/// request) are little-endian u64; `is_write` has one byte per request. `seed` determines the spindle's phase and speed.
/// Raises `EngineTraceError` if the disk is impossible or a request cannot be served, `ValueError` if `disk` is not one.
#[pyfunction]
pub fn disk_service_times<'py>(
    py: Python<'py>,
    disk: &str,
    seed: u64,
    lba: &[u8],
    sectors: &[u8],
    is_write: &[u8],
    gap_ns: &[u8],
) -> PyResult<Bound<'py, PyBytes>> {
    let invalid = |message: String| PyValueError::new_err(message);
    let disk: Disk = serde_json::from_str(disk).map_err(|error| invalid(error.to_string()))?;
    let requests: Vec<_> = words(lba)
        .zip(words(sectors))
        .zip(words(gap_ns))
        .zip(is_write)
        .map(|(((lba, sectors), gap), &is_write)| {
            let sectors = u32::try_from(sectors).map_err(|_| invalid(format!("{sectors} sectors")))?;
            Ok(Recorded { lba: Lba(lba), sectors, is_write: is_write != 0, gap: SimDuration(gap) })
        })
        .collect::<PyResult<_>>()?;
    let times = py.detach(|| service_times(&disk, seed, &requests)).map_err(|error| {
        let issue = error.issue();
        errors::exception(issue.code, &issue.place, &issue.message, &Value::Null)
    })?;
    let bytes: Vec<u8> = times.iter().flat_map(|time| time.0.to_le_bytes()).collect();
    Ok(PyBytes::new(py, &bytes))
}
