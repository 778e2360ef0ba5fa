-- name: design_space
-- studies: seek
-- purpose: Answer of the seek for each configuration, such as the load supported or the disks needed, with hit ratios and response time there, and the limiting resource.
-- row: one per point; means over replicates at the value nearest to the answer that meets the objectives
WITH measured AS (
  SELECT point_id, read_hit_ratio, write_hit_ratio, hit_ratio, response_p95_us
  FROM certified
),

answered AS (
  SELECT
    point_id, limiting, binding, answer, answer_low, answer_high, price, passing, failing, n, censored, interval_met,
    monotone, undecided, published, published_figure
  FROM answers
)

SELECT
  configurations.label,
  answer,
  answer_low,
  answer_high,
  price,
  published,
  published_figure,
  hit_ratio,
  response_p95_us,
  limiting,
  configurations.* EXCLUDE (point_id, plan_row, label),
  read_hit_ratio,
  write_hit_ratio,
  passing,
  failing,
  n,
  interval_met,
  binding,
  censored,
  monotone,
  undecided
FROM configurations
LEFT JOIN measured USING (point_id)
LEFT JOIN answered USING (point_id)
ORDER BY configurations.plan_row
