-- name: hit_ratio_against_cache
-- studies: fixed
-- purpose: Hit ratios of reads and writes by cache size, at the study's load.
-- row: one per point; means over replicates with their 95 % intervals
SELECT
  configurations.* EXCLUDE (point_id, plan_row),
  hit_ratio,
  hit_ratio_low,
  hit_ratio_high,
  read_hit_ratio,
  read_hit_ratio_low,
  read_hit_ratio_high,
  write_hit_ratio,
  write_hit_ratio_low,
  write_hit_ratio_high
FROM points
INNER JOIN configurations USING (point_id)
WHERE n > 0
ORDER BY configurations.plan_row
