-- name: commits_against_cache
-- studies: replay
-- purpose: What each cache size does for a server that waits for its commits: how long the work takes, how long a commit.
-- row: one per point; means over replicates with the ends of their 95 % interval where there are several
SELECT
  configurations.* EXCLUDE (point_id, plan_row, is_first),
  completion_time_s,
  completion_time_s_low,
  completion_time_s_high,
  commit_p50_us,
  commit_p50_us_low,
  commit_p50_us_high,
  commit_p99_us,
  commit_p99_us_low,
  commit_p99_us_high,
  -- Not every replay knows commits.
  nullif(commits_per_s, 0) AS commits_per_s,
  commits_per_s_low,
  commits_per_s_high
FROM points
INNER JOIN configurations USING (point_id)
WHERE n > 0
ORDER BY configurations.plan_row
