//! The columns of the row of a run: name, unit, meaning and where each value comes from.

use super::Simulation;
use super::outcome::{ColumnSink, Value};
use crate::metrics::Histogram;
use crate::units::{SECTOR_BYTES, SimDuration};

type Text = Option<&'static str>;

/// Puts every column of the row of `run`; values are missing where there is no run.
pub(super) fn row(run: Option<&Simulation>, sink: &mut impl ColumnSink) {
    let text = |value: Text| Value::Text(value.map(str::to_owned));
    sink.put(
        "status",
        "",
        "ok, not_stationary, overloaded or failed",
        text(run.map(|run| run.status().name())),
    );
    sink.put("error_kind", "", "configuration, trace, panic or deadlock", text(None));
    sink.put("error", "", "what went wrong", text(None));
    put_counts(run, sink);
    put_rates(run, sink);
    put_response(run, sink);
    put_hits(run, sink);
    put_destage(run, sink);
    put_use(run, sink);
    put_arrays(run, sink);
}

/// Puts an integer column that reads a field of the run.
fn int(
    sink: &mut impl ColumnSink,
    run: Option<&Simulation>,
    (name, unit, meaning): (&str, &'static str, &str),
    read: impl Fn(&Simulation) -> u64,
) {
    sink.put(name, unit, meaning, Value::Int(run.map(|run| read(run).cast_signed())));
}

/// Puts a numeric column that reads a field of the run.
fn float(
    sink: &mut impl ColumnSink,
    run: Option<&Simulation>,
    (name, unit, meaning): (&str, &'static str, &str),
    read: impl Fn(&Simulation) -> Option<f64>,
) {
    sink.put(name, unit, meaning, Value::Float(run.and_then(read)));
}

fn put_counts(run: Option<&Simulation>, sink: &mut impl ColumnSink) {
    let c = "count";
    int(sink, run, ("requests", c, "host reads and writes that completed in the window"), |run| {
        run.measures.counts.reads + run.measures.counts.writes
    });
    int(sink, run, ("reads", c, "host reads among them"), |run| run.measures.counts.reads);
    int(sink, run, ("writes", c, "host writes among them"), |run| run.measures.counts.writes);
    int(sink, run, ("flushes", c, "host flushes that completed in the window"), |run| {
        run.measures.counts.flushes
    });
    int(sink, run, ("events", c, "simulated events of the whole run"), |run| run.event_count);
    int(sink, run, ("disk_reads", c, "reads that disks began in the window"), |run| {
        run.devices.iter().map(|device| device.usage().reads).sum()
    });
    int(sink, run, ("disk_writes", c, "writes that disks began in the window"), |run| {
        run.devices.iter().map(|device| device.usage().writes).sum()
    });
    float(sink, run, ("window_s", "s", "length of the measurement window"), |run| Some(run.window_s()));
    float(sink, run, ("warm_up_s", "s", "simulated time before the window"), |run| {
        Some(run.conduct.warm_up_time.as_secs_f64())
    });
    int(sink, run, ("warm_up_requests", c, "reads and writes before the window"), |run| {
        run.conduct.warm_up_requests
    });
    float(
        sink,
        run,
        ("completion_time_s", "s", "from the start of the window to the last completion"),
        |run| Some(run.measures.last_completion.since(run.measures.start).as_secs_f64()),
    );
    float(
        sink,
        run,
        (
            "drain_s",
            "s",
            "from the end of the window until all dirty data was on the disks, where the run was to drain",
        ),
        |_| None,
    );
}

fn put_rates(run: Option<&Simulation>, sink: &mut impl ColumnSink) {
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
        rate(|run| run.measures.counts.reads + run.measures.counts.writes),
    );
    float(sink, run, ("read_iops", "1/s", "reads per second"), rate(|run| run.measures.counts.reads));
    float(sink, run, ("write_iops", "1/s", "writes per second"), rate(|run| run.measures.counts.writes));
    float(
        sink,
        run,
        ("throughput_bytes_per_s", "bytes/s", "data read and written per second"),
        rate(|run| run.measures.counts.bytes),
    );
    int(sink, run, ("interactions", "count", "user interactions that ended in the window"), |run| {
        run.measures.interaction.count()
    });
    float(
        sink,
        run,
        ("interactions_per_s", "1/s", "user interactions per second"),
        rate(|run| run.measures.interaction.count()),
    );
    int(
        sink,
        run,
        (
            "commits",
            "count",
            "commits of a dependent replay: a flush with the synchronous writes directly before it",
        ),
        |run| run.measures.commit.count(),
    );
    float(sink, run, ("commits_per_s", "1/s", "commits per second"), rate(|run| run.measures.commit.count()));
}

fn put_response(run: Option<&Simulation>, sink: &mut impl ColumnSink) {
    type Pick = fn(&Simulation) -> &Histogram;
    const US: f64 = 1e-3;
    let families: [(&str, &str, Pick); 5] = [
        ("response", "response time of reads and writes", |run| &run.measures.response),
        ("read_response", "response time of reads", |run| &run.measures.read_response),
        ("write_response", "response time of writes", |run| &run.measures.write_response),
        (
            "interaction_response",
            "time of a user interaction, from its first request to its last completion",
            |run| &run.measures.interaction,
        ),
        (
            "commit",
            "time of a commit, from the synchronous writes directly before its flush to the end of the flush",
            |run| &run.measures.commit,
        ),
    ];
    for (family, meaning, pick) in families {
        let name = |statistic: &str| format!("{family}_{statistic}_us");
        float(sink, run, (&name("mean"), "us", &format!("mean {meaning}")), |run| {
            pick(run).mean().map(|mean| mean * US)
        });
        for (statistic, quantile) in
            [("p50", 0.5), ("p90", 0.9), ("p95", 0.95), ("p99", 0.99), ("p999", 0.999)]
        {
            let meaning = format!("{}th percentile of the {meaning}", quantile * 100.0);
            float(sink, run, (&name(statistic), "us", &meaning), |run| {
                pick(run).quantile(quantile).map(|value| value * US)
            });
        }
        float(sink, run, (&name("max"), "us", &format!("greatest {meaning}")), |run| {
            pick(run).max().map(SimDuration::as_micros_f64)
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
        |run| run.measures.batches.half_width_95().map(|width| width * US),
    );
}

fn ratio(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

fn put_hits(run: Option<&Simulation>, sink: &mut impl ColumnSink) {
    let (r, c) = ("fraction", "count");
    float(
        sink,
        run,
        (
            "hit_ratio",
            r,
            "reads served by the cache alone and writes that overwrote dirty lines only, of all",
        ),
        |run| {
            let counts = &run.measures.counts;
            ratio(counts.read_hits + counts.write_hits, counts.reads + counts.writes)
        },
    );
    float(sink, run, ("read_hit_ratio", r, "reads served by the cache alone"), |run| {
        ratio(run.measures.counts.read_hits, run.measures.counts.reads)
    });
    float(
        sink,
        run,
        ("write_hit_ratio", r, "writes that overwrote dirty lines only, and cost no further destage"),
        |run| ratio(run.measures.counts.write_hits, run.measures.counts.writes),
    );
    float(
        sink,
        run,
        ("read_ahead_hit_ratio", r, "reads served by the cache alone, from data read ahead"),
        |run| ratio(run.measures.counts.read_ahead_hits, run.measures.counts.reads),
    );
    int(sink, run, ("read_hits_late", c, "reads that waited for a fetch already under way"), |run| {
        run.measures.counts.read_hits_late
    });
    int(sink, run, ("read_misses_random", c, "reads that missed and continued no sequence"), |run| {
        run.measures.counts.read_misses_random
    });
    int(
        sink,
        run,
        (
            "read_misses_sequential",
            c,
            "reads that missed within a sequence: before read-ahead started, or beyond it",
        ),
        |run| run.measures.counts.read_misses_sequential,
    );
}

fn put_destage(run: Option<&Simulation>, sink: &mut impl ColumnSink) {
    let (s, c) = ("sectors", "count");
    int(sink, run, ("accepted_sectors", s, "sectors that the write cache took"), |run| {
        run.measures.counts.accepted_sectors
    });
    int(sink, run, ("absorbed_sectors", s, "of those, sectors that overwrote dirty ones"), |run| {
        run.measures.counts.absorbed_sectors
    });
    int(sink, run, ("destaged_sectors", s, "sectors that went from the write cache to the disks"), |run| {
        run.measures.counts.destaged_sectors
    });
    int(sink, run, ("bypassed_sectors", s, "sectors that were written through"), |run| {
        run.measures.counts.bypassed_sectors
    });
    int(sink, run, ("dirty_start_sectors", s, "dirty sectors at the start of the window"), |run| {
        run.measures.dirty_start
    });
    int(sink, run, ("dirty_end_sectors", s, "dirty sectors at the end of the window"), |run| {
        run.measures.dirty.value()
    });
    int(sink, run, ("destages", c, "stripe writes that destaged"), |run| run.measures.counts.destages);
    float(
        sink,
        run,
        (
            "coalescing_factor",
            "ratio",
            "host writes taken by the write cache for each stripe write that destaged",
        ),
        |run| ratio(run.measures.counts.cached_writes, run.measures.counts.destages),
    );
    float(
        sink,
        run,
        (
            "full_stripe_fraction",
            "fraction",
            "of the stripe writes that destaged, those that needed no old data",
        ),
        |run| ratio(run.measures.counts.full_stripes, run.measures.counts.destages),
    );
    int(sink, run, ("write_stalls", c, "writes that waited for a free line"), |run| {
        run.measures.counts.stalls
    });
    float(sink, run, ("write_stall_mean_us", "us", "mean time that such a write waited"), |run| {
        let counts = &run.measures.counts;
        (counts.stalls > 0).then(|| counts.stall_time.as_micros_f64() / counts.stalls as f64)
    });
    float(sink, run, ("write_stall_max_us", "us", "longest time that such a write waited"), |run| {
        Some(run.measures.counts.stall_max.as_micros_f64())
    });
    float(
        sink,
        run,
        ("dirty_mean_fraction", "fraction", "mean share of the write cache that is dirty"),
        |run| {
            let back = run.write_back.as_ref()?;
            let volume = (u64::from(back.cache.capacity()) * run.line_sectors) as f64;
            let length = run.window_s();
            (length > 0.0).then(|| run.measures.dirty.area_s() / volume / length)
        },
    );
    int(sink, run, ("dirty_high_bytes", "bytes", "most dirty data at any moment"), |run| {
        run.measures.dirty.high() * SECTOR_BYTES
    });
    float(
        sink,
        run,
        ("data_at_risk_byte_s", "bytes s", "dirty data without battery protection, integrated over time"),
        |run| Some(run.measures.at_risk.area_s() * SECTOR_BYTES as f64),
    );
}

fn put_use(run: Option<&Simulation>, sink: &mut impl ColumnSink) {
    fn busy(run: &Simulation) -> impl Iterator<Item = f64> {
        run.devices.iter().map(|device| device.usage().busy_fraction())
    }
    let f = "fraction";
    float(sink, run, ("disk_busy_min_fraction", f, "busy share of the least busy disk"), |run| {
        busy(run).reduce(f64::min)
    });
    float(sink, run, ("disk_busy_mean_fraction", f, "mean busy share of the disks"), |run| {
        Some(busy(run).sum::<f64>() / run.devices.len() as f64)
    });
    float(sink, run, ("disk_busy_max_fraction", f, "busy share of the busiest disk"), |run| {
        busy(run).reduce(f64::max)
    });
    float(sink, run, ("disk_queue_mean", "count", "mean I/Os at a disk, waiting or served"), |run| {
        let total: f64 = run.devices.iter().map(|device| device.usage().mean_in_system()).sum();
        Some(total / run.devices.len() as f64)
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
            let response = &run.measures.response;
            (length > 0.0)
                .then(|| response.mean().unwrap_or(0.0) * response.count() as f64 * 1e-9 / length * 100.0)
        },
    );
    float(sink, run, ("link_busy_fraction", f, "busy share of the host link"), |run| {
        Some(run.link.busy_fraction(run.now))
    });
    float(sink, run, ("firmware_busy_fraction", f, "busy share of the firmware processor"), |run| {
        Some(run.firmware.busy_fraction(run.now))
    });
}

fn put_arrays(run: Option<&Simulation>, sink: &mut impl ColumnSink) {
    /// One value for each array; nothing where there is no run.
    fn each<T>(run: Option<&Simulation>, read: impl Fn(&Simulation, usize) -> T) -> Vec<T> {
        run.map_or_else(Vec::new, |run| (0..run.arrays.len()).map(|array| read(run, array)).collect())
    }
    fn histogram(run: &Simulation, array: usize) -> &Histogram {
        if run.arrays.len() > 1 { &run.measures.by_array[array] } else { &run.measures.response }
    }
    sink.put(
        "array_names",
        "",
        "names of the arrays; the lists below have one entry for each",
        Value::TextList(each(run, |run, array| run.scenario.arrays()[array].name.clone())),
    );
    sink.put(
        "array_requests",
        "count",
        "reads and writes of each array",
        Value::IntList(each(run, |run, array| histogram(run, array).count().cast_signed())),
    );
    sink.put(
        "array_response_mean_us",
        "us",
        "mean response time of each array",
        Value::FloatList(each(run, |run, array| histogram(run, array).mean().unwrap_or(0.0) * 1e-3)),
    );
    sink.put(
        "array_response_p95_us",
        "us",
        "95th percentile of the response time of each array",
        Value::FloatList(each(run, |run, array| histogram(run, array).quantile(0.95).unwrap_or(0.0) * 1e-3)),
    );
    sink.put(
        "array_disk_busy_max_fraction",
        "fraction",
        "busy share of the busiest disk of each array",
        Value::FloatList(each(run, |run, array| {
            run.devices
                .iter()
                .zip(&run.device_array)
                .filter(|&(_, &of)| of as usize == array)
                .map(|(device, _)| device.usage().busy_fraction())
                .fold(0.0, f64::max)
        })),
    );
}
