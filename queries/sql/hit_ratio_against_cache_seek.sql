-- name: hit_ratio_against_cache
-- studies: seek
-- purpose: How often the cache serves a read or absorbs a write, at the load each configuration is certified for.
-- row: one per point with a certified answer; means over replicates with the ends of their 95 % interval
SELECT
  COLUMNS(lambda c: c = 'label' OR contains(c, '.')),
  hit_ratio,
  hit_ratio_low,
  hit_ratio_high,
  read_hit_ratio,
  read_hit_ratio_low,
  read_hit_ratio_high,
  write_hit_ratio,
  write_hit_ratio_low,
  write_hit_ratio_high
FROM certified
WHERE n > 0
ORDER BY plan_row
