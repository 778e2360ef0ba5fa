-- name: users_against_cache
-- studies: seek
-- purpose: Load supported by cache size, with its interval, the published figure if there is one, and the hit ratio at that load.
-- row: one per point
SELECT
  configurations.* EXCLUDE (point_id, plan_row),
  answer,
  answer_low,
  answer_high,
  censored,
  published,
  published_figure,
  hit_ratio,
  hit_ratio_low,
  hit_ratio_high
FROM configurations
LEFT JOIN answers USING (point_id)
LEFT JOIN certified USING (point_id)
ORDER BY configurations.plan_row
