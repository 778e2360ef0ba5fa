//! How much happened per second.

columns! {
    /// reads and writes per second
    throughput_iops, "1/s", Float(|run| run.per_second(run.counts().reads + run.counts().writes));
    /// reads per second
    read_iops, "1/s", Float(|run| run.per_second(run.counts().reads));
    /// writes per second
    write_iops, "1/s", Float(|run| run.per_second(run.counts().writes));
    /// data read and written per second
    throughput_bytes_per_s, "bytes/s", Float(|run| run.per_second(run.counts().bytes));
    /// user interactions that ended in the window
    interactions, "count", Count(|run| run.measures().interaction.count());
    /// user interactions per second
    interactions_per_s, "1/s", Float(|run| run.per_second(run.measures().interaction.count()));
    /// commits of a dependent replay: a flush with the synchronous writes directly before it
    commits, "count", Count(|run| run.measures().commit.count());
    /// commits per second
    commits_per_s, "1/s", Float(|run| run.per_second(run.measures().commit.count()));
}
