-- name: users_against_cache
-- studies: seek
-- purpose: What each cache size carries, with its interval and the published figure where there is one.
-- row: one per point that has an answer
SELECT
  COLUMNS(lambda c: c = 'label' OR contains(c, '.')),
  answer_mean AS answer,
  answer_low,
  answer_high,
  censored,
  published,
  published_kind
FROM answers
WHERE answer_mean IS NOT NULL OR published IS NOT NULL
ORDER BY plan_row
