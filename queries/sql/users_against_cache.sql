-- name: users_against_cache
-- studies: seek
-- purpose: Load supported by cache size, with its interval and the published figure if there is one.
-- row: one per point that has an answer
SELECT
  configurations.* EXCLUDE (point_id, plan_row, is_first),
  answer,
  answer_low,
  answer_high,
  censored,
  published,
  published_figure
FROM answers
INNER JOIN configurations USING (point_id)
WHERE answer IS NOT NULL OR published IS NOT NULL
ORDER BY configurations.plan_row
