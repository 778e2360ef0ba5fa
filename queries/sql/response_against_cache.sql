-- name: response_against_cache
-- studies: fixed
-- purpose: Response time percentiles by cache size.
-- row: one per point; means over replicates with their 95 % intervals if there are several
SELECT
  configurations.* EXCLUDE (point_id, plan_row),
  response_p50_us,
  response_p50_us_low,
  response_p50_us_high,
  response_p95_us,
  response_p95_us_low,
  response_p95_us_high,
  response_p99_us,
  response_p99_us_low,
  response_p99_us_high
FROM points
INNER JOIN configurations USING (point_id)
WHERE n > 0
ORDER BY configurations.plan_row
