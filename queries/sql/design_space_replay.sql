-- name: design_space
-- studies: replay
-- purpose: Results of each configuration in the replay: completion time, commits, response times, stalls, hit ratios.
-- parameter: idle [fraction] = 0.5: if every part of the array is less busy, the host is the limiting resource
-- row: one per point; means over replicates
SELECT
  configurations.label,
  completion_time_s,
  completion_time_s_low,
  completion_time_s_high,
  commit_p99_us,
  commit_p99_us_low,
  commit_p99_us_high,
  nullif(commits_per_s, 0) AS commits_per_s,
  hit_ratio,
  limiting_resource(points, $idle) AS limiting,
  configurations.* EXCLUDE (point_id, plan_row, label),
  commit_p50_us,
  throughput_iops,
  response_p95_us,
  read_hit_ratio,
  write_hit_ratio,
  write_stalls,
  write_stall_mean_us,
  n,
  n_not_stationary,
  n_overloaded,
  n_array_failed,
  n_failed,
  n_missing
FROM points
INNER JOIN configurations USING (plan_row)
ORDER BY configurations.plan_row
