//! How busy each part was.

use super::super::Simulation;
use super::super::outcome::ColumnSink;
use super::float;
use crate::disk::BlockDevice as _;

pub(super) fn put_use(run: Option<&Simulation>, sink: &mut impl ColumnSink) {
    fn busy(run: &Simulation) -> impl Iterator<Item = f64> {
        run.arrays.working_devices().map(|device| device.usage().busy_fraction())
    }
    let f = "fraction";
    float(
        sink,
        run,
        ("disk_busy_min_fraction", f, "busy share of the least busy disk, of those at work at the end"),
        |run| busy(run).reduce(f64::min),
    );
    float(sink, run, ("disk_busy_mean_fraction", f, "mean busy share of the disks"), |run| {
        let count = run.arrays.working_devices().count();
        (count > 0).then(|| busy(run).sum::<f64>() / count as f64)
    });
    float(sink, run, ("disk_busy_max_fraction", f, "busy share of the busiest disk"), |run| {
        busy(run).reduce(f64::max)
    });
    float(sink, run, ("disk_queue_mean", "count", "mean I/Os at a disk, waiting or served"), |run| {
        let total: f64 = run.arrays.working_devices().map(|device| device.usage().mean_in_system()).sum();
        let count = run.arrays.working_devices().count();
        (count > 0).then(|| total / count as f64)
    });
    float(
        sink,
        run,
        (
            "disk_time_percent",
            "%",
            "Perfmon % Disk Time of the host: mean host reads and writes outstanding, times 100",
        ),
        |run| {
            let length = run.window_s();
            let response = run.context.measures.response();
            (length > 0.0)
                .then(|| response.mean().unwrap_or(0.0) * response.count() as f64 * 1e-9 / length * 100.0)
        },
    );
    float(
        sink,
        run,
        (
            "link_busy_fraction",
            f,
            "busy share of the host link; of its busier direction where each has a rate of its own",
        ),
        |run| {
            Some(
                run.front_end
                    .link
                    .iter()
                    .map(|direction| direction.busy_fraction(run.now()))
                    .fold(0.0, f64::max),
            )
        },
    );
    float(
        sink,
        run,
        ("channel_busy_max_fraction", f, "busy share of the busiest channel between controller and disks"),
        |run| run.arrays.back_end_busy_fraction(run.now()),
    );
    float(sink, run, ("xor_busy_fraction", f, "busy share of the XOR engine"), |run| {
        run.arrays.xor_busy_fraction(run.now())
    });
    float(sink, run, ("firmware_busy_fraction", f, "busy share of the firmware processor"), |run| {
        Some(run.front_end.firmware.busy_fraction(run.now()))
    });
}
