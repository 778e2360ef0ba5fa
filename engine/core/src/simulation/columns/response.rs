//! How long requests, interactions and commits took.

use std::borrow::Cow;

use super::super::Simulation;
use super::super::outcome::ColumnSink;
use super::float;
use crate::metrics::Histogram;
use crate::units::SimDuration;

pub(super) fn put_response(run: Option<&Simulation>, sink: &mut impl ColumnSink) {
    type Pick = fn(&Simulation) -> Cow<'_, Histogram>;
    const US: f64 = 1e-3;
    let families: [(&str, &str, Pick); 5] = [
        ("response", "response time of reads and writes", |run| Cow::Owned(run.context.measures.response())),
        ("read_response", "response time of reads", |run| Cow::Borrowed(&run.context.measures.read_response)),
        ("write_response", "response time of writes", |run| {
            Cow::Borrowed(&run.context.measures.write_response)
        }),
        (
            "interaction_response",
            "time of a user interaction, from its first request to its last completion",
            |run| Cow::Borrowed(&run.context.measures.interaction),
        ),
        (
            "commit",
            "time of a commit, from the synchronous writes directly before its flush to the end of the flush",
            |run| Cow::Borrowed(&run.context.measures.commit),
        ),
    ];
    for (family, meaning, pick) in families {
        let name = |statistic: &str| format!("{family}_{statistic}_us");
        let times = run.map(pick);
        let times = times.as_deref();
        float(sink, run, (&name("mean"), "us", &format!("mean {meaning}")), |_| {
            times?.mean().map(|mean| mean * US)
        });
        for (statistic, quantile) in
            [("p50", 0.5), ("p90", 0.9), ("p95", 0.95), ("p99", 0.99), ("p999", 0.999)]
        {
            let meaning = format!("{}th percentile of the {meaning}", quantile * 100.0);
            float(sink, run, (&name(statistic), "us", &meaning), |_| {
                times?.quantile(quantile).map(|value| value * US)
            });
        }
        float(sink, run, (&name("max"), "us", &format!("greatest {meaning}")), |_| {
            times?.max().map(SimDuration::as_micros_f64)
        });
    }
    float(
        sink,
        run,
        (
            "response_mean_half_width_us",
            "us",
            "half width of the 95 % interval of the mean response time, by batch means within the run",
        ),
        |run| run.context.measures.batches.half_width_95().map(|width| width * US),
    );
}
