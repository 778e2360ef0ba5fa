//! How busy each part was.

use super::RunView;
use crate::disk::BlockDevice as _;

columns! {
    /// busy share of the least busy disk, of those working at the end of the run
    disk_busy_min_fraction, "fraction", Float(|run| disks_busy(run).reduce(f64::min));
    /// mean busy share of the disks
    disk_busy_mean_fraction, "fraction", Float(|run| mean(disks_busy(run)));
    /// busy share of the busiest disk
    disk_busy_max_fraction, "fraction", Float(|run| disks_busy(run).reduce(f64::max));
    /// mean number of I/Os at a disk, waiting or in service
    disk_queue_mean, "count", Float(|run| {
        mean(run.arrays.working_devices().map(|device| device.usage().mean_in_system()))
    });
    /// % Disk Time as Windows Perfmon reports it: mean outstanding host reads and writes, times 100
    disk_time_percent, "%", Float(|run| {
        let (length, response) = (run.window_s(), run.response());
        (length > 0.0)
            .then(|| response.mean().unwrap_or(0.0) * response.count() as f64 * 1e-9 / length * 100.0)
    });
    /// busy share of the host link, or of its busier direction if it is full duplex
    link_busy_fraction, "fraction", Float(|run| {
        let busy = run.front_end.link.iter().map(|direction| direction.busy_fraction(run.now()));
        Some(busy.fold(0.0, f64::max))
    });
    /// busy share of the busiest channel between the controller and its disks
    channel_busy_max_fraction, "fraction", Float(|run| run.arrays.back_end_busy_fraction(run.now()));
    /// busy share of the XOR engine
    xor_busy_fraction, "fraction", Float(|run| run.arrays.xor_busy_fraction(run.now()));
    /// busy share of the firmware processor
    firmware_busy_fraction, "fraction", Float(|run| Some(run.context.firmware.busy_fraction(run.now())));
}

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
