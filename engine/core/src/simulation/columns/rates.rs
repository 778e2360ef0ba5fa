//! How much happened in a second.

use super::super::Simulation;
use super::super::outcome::ColumnSink;
use super::{float, int};

pub(super) fn put_rates(run: Option<&Simulation>, sink: &mut impl ColumnSink) {
    /// A count over the time until the last completion.
    fn rate(count: impl Fn(&Simulation) -> u64) -> impl Fn(&Simulation) -> Option<f64> {
        move |run| {
            let length = run.window_s();
            (length > 0.0).then(|| count(run) as f64 / length)
        }
    }
    float(
        sink,
        run,
        ("throughput_iops", "1/s", "reads and writes per second"),
        rate(|run| run.context.measures.counts.reads + run.context.measures.counts.writes),
    );
    float(sink, run, ("read_iops", "1/s", "reads per second"), rate(|run| run.context.measures.counts.reads));
    float(
        sink,
        run,
        ("write_iops", "1/s", "writes per second"),
        rate(|run| run.context.measures.counts.writes),
    );
    float(
        sink,
        run,
        ("throughput_bytes_per_s", "bytes/s", "data read and written per second"),
        rate(|run| run.context.measures.counts.bytes),
    );
    int(sink, run, ("interactions", "count", "user interactions that ended in the window"), |run| {
        run.context.measures.interaction.count()
    });
    float(
        sink,
        run,
        ("interactions_per_s", "1/s", "user interactions per second"),
        rate(|run| run.context.measures.interaction.count()),
    );
    int(
        sink,
        run,
        (
            "commits",
            "count",
            "commits of a dependent replay: a flush with the synchronous writes directly before it",
        ),
        |run| run.context.measures.commit.count(),
    );
    float(
        sink,
        run,
        ("commits_per_s", "1/s", "commits per second"),
        rate(|run| run.context.measures.commit.count()),
    );
}
