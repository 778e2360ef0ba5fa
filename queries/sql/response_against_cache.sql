-- name: response_against_cache
-- studies: fixed
-- purpose: How fast requests are answered, and how many, against cache size.
-- row: one per point; means over replicates with the ends of their 95 % interval where there are several
SELECT
  COLUMNS(lambda c: c = 'label' OR contains(c, '.')),
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
WHERE n > 0
ORDER BY plan_row
