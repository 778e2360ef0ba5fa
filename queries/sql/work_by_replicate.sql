-- name: work_by_replicate
-- studies: replay
-- purpose: Duration of the replay in each run, with flushes, absorbed writes and busy fractions.
-- parameter: idle [fraction] = 0.5: if every part of the array is less busy, the host is the limiting resource
-- column: work_s [s]: time from the start of the window until all requests and destages are complete
-- column: commands [count]: reads, writes and flushes of the hosts
-- column: absorbed_fraction [fraction]: share of the sectors written to the write cache that overwrote dirty ones
-- row: one per point and replicate
SELECT
  configurations.* EXCLUDE (point_id, plan_row),
  runs.replicate,
  -- The work of a run that drains ends when all dirty data is on the disks.
  runs.completion_time_s + coalesce(runs.drain_s, 0) AS work_s,
  runs.drain_s,
  runs.reads + runs.writes + runs.flushes AS commands,
  runs.flushes,
  -- Sectors that overwrote dirty ones, of all accepted by the write cache: the older data never goes to the disks.
  runs.absorbed_sectors / nullif(runs.accepted_sectors, 0) AS absorbed_fraction,
  runs.coalescing_factor,
  runs.commit_p50_us,
  runs.commit_p99_us,
  runs.commits_per_s,
  runs.disk_busy_max_fraction,
  -- Of the means over replicates, as in design_space.
  limiting_resource(points, $idle) AS limiting
FROM runs
INNER JOIN configurations USING (point_id)
INNER JOIN points USING (point_id)
WHERE runs.status = 'ok' AND runs.completion_time_s IS NOT NULL
ORDER BY configurations.plan_row, runs.replicate
