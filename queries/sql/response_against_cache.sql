-- name: response_against_cache
-- studies: fixed
-- purpose: How fast requests are answered, and how many, against cache size.
-- row: one per point; means over replicates with the ends of their 95 % interval where there are several
SELECT
  configurations.* EXCLUDE (point_id, plan_row, is_first),
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
