//! How busy each part was.

use super::column::{Reader::Float, column};
use super::{Column, RunView};
use crate::disk::BlockDevice as _;

pub(super) const COLUMNS: &[Column] = &[
    column(
        "disk_busy_min_fraction",
        "fraction",
        "busy share of the least busy disk, of those working at the end of the run",
        Float(|run| disks_busy(run).reduce(f64::min)),
    ),
    column(
        "disk_busy_mean_fraction",
        "fraction",
        "mean busy share of the disks",
        Float(|run| mean(disks_busy(run))),
    ),
    column(
        "disk_busy_max_fraction",
        "fraction",
        "busy share of the busiest disk",
        Float(|run| disks_busy(run).reduce(f64::max)),
    ),
    column(
        "disk_queue_mean",
        "count",
        "mean number of I/Os at a disk, waiting or in service",
        Float(|run| mean(run.arrays.working_devices().map(|device| device.usage().mean_in_system()))),
    ),
    column(
        "disk_time_percent",
        "%",
        "% Disk Time as Windows Perfmon reports it: mean outstanding host reads and writes, times 100",
        Float(|run| {
            let (length, response) = (run.window_s(), run.response());
            (length > 0.0)
                .then(|| response.mean().unwrap_or(0.0) * response.count() as f64 * 1e-9 / length * 100.0)
        }),
    ),
    column(
        "link_busy_fraction",
        "fraction",
        "busy share of the host link, or of its busier direction if it is full duplex",
        Float(|run| {
            Some(
                run.front_end
                    .link
                    .iter()
                    .map(|direction| direction.busy_fraction(run.now()))
                    .fold(0.0, f64::max),
            )
        }),
    ),
    column(
        "channel_busy_max_fraction",
        "fraction",
        "busy share of the busiest channel between the controller and its disks",
        Float(|run| run.arrays.back_end_busy_fraction(run.now())),
    ),
    column(
        "xor_busy_fraction",
        "fraction",
        "busy share of the XOR engine",
        Float(|run| run.arrays.xor_busy_fraction(run.now())),
    ),
    column(
        "firmware_busy_fraction",
        "fraction",
        "busy share of the firmware processor",
        Float(|run| Some(run.front_end.firmware.busy_fraction(run.now()))),
    ),
];

fn disks_busy(run: &RunView<'_>) -> impl Iterator<Item = f64> {
    run.arrays.working_devices().map(|device| device.usage().busy_fraction())
}

fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (mut sum, mut count) = (0.0, 0_u32);
    for value in values {
        sum += value;
        count += 1;
    }
    (count > 0).then(|| sum / f64::from(count))
}
