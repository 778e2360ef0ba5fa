-- name: commits_against_cache
-- studies: replay
-- purpose: Completion time, commit latency and commit rate of a replay, by cache size.
-- row: one per point; means over replicates with their 95 % intervals if there are several
SELECT
  configurations.* EXCLUDE (point_id, plan_row),
  completion_time_s,
  completion_time_s_low,
  completion_time_s_high,
  commit_p50_us,
  commit_p50_us_low,
  commit_p50_us_high,
  commit_p99_us,
  commit_p99_us_low,
  commit_p99_us_high,
  -- Not every replay has commits.
  nullif(commits_per_s, 0) AS commits_per_s,
  commits_per_s_low,
  commits_per_s_high
FROM points
INNER JOIN configurations USING (point_id)
WHERE n > 0
ORDER BY configurations.plan_row
