-- name: design_space
-- studies: fixed
-- purpose: Results of each configuration at the study's load: response times, throughput, stalls, hit ratios.
-- parameter: idle [fraction] = 0.5: if every part of the array is less busy, the host is the limiting resource
-- row: one per point; means over replicates
SELECT
  configurations.label,
  response_p95_us,
  response_p95_us_low,
  response_p95_us_high,
  throughput_iops,
  hit_ratio,
  -- A column that is zero everywhere is hidden.
  nullif(dirty_lost_bytes, 0) AS dirty_lost_bytes,
  dirty_lost_bytes_low,
  dirty_lost_bytes_high,
  limiting_resource(points, $idle) AS limiting,
  configurations.* EXCLUDE (point_id, plan_row, label),
  response_mean_us,
  response_p99_us,
  read_hit_ratio,
  write_hit_ratio,
  write_stalls,
  write_stall_mean_us,
  nullif(data_at_risk_byte_s, 0) AS data_at_risk_byte_s,
  n,
  n_not_stationary,
  n_overloaded,
  n_array_failed,
  n_failed,
  n_missing
FROM points
INNER JOIN configurations USING (plan_row)
ORDER BY configurations.plan_row
