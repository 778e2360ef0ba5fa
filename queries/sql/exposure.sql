-- name: exposure
-- studies: any
-- purpose: Exposure against performance: the maximum amount of dirty data, which a power cut without a battery would lose, and the result of each point.
-- parameter: risk [column] = dirty_high_bytes: the measure of exposure; data_at_risk_byte_s counts only dirty data without battery protection
-- parameter: of [column] = result: the speed: the load of a seek, the completion time of a replay, or the 95th percentile of response times
-- column: is_on_front: whether no other point with the same workload has a better {of} at the same or a lower {risk}, or an equal {of} at a lower {risk}
-- row: one per point, the least exposed first; means over replicates
WITH measured AS (
  SELECT
    point_id,
    replicate,
    mean_of($of) AS measure,
    mean_of($risk) AS risk,
    mean_of(dirty_high_bytes) AS dirty_high_bytes,
    mean_of(unprotected_s) AS unprotected_s,
    mean_of(dirty_lost_bytes) AS dirty_lost_bytes,
    mean_of(write_back_fraction) AS write_back_fraction
  FROM replicates
  GROUP BY point_id, replicate
),

averaged AS (
  SELECT
    point_id,
    mean_of(measure) AS mean,
    -- The interval of an answer has the error of its fitted line, too.
    coalesce(if('{of}' = 'answer', any_value(fitted), NULL), half_width(measure)) AS mean_half_width,
    mean_of(risk) AS risk,
    half_width(risk) AS risk_half_width,
    mean_of(unprotected_s) AS unprotected_s,
    mean_of(dirty_lost_bytes) AS dirty_lost_bytes,
    mean_of(write_back_fraction) AS write_back_fraction
  FROM measured
  LEFT JOIN (SELECT point_id, answer_half_width AS fitted FROM answers) USING (point_id)
  GROUP BY point_id
),

ranked AS (
  SELECT
    *,
    max(direction('{of}') * mean) OVER less_exposed AS best_below,
    max(direction('{of}') * mean) OVER (PARTITION BY workload, risk) AS best_here
  FROM alternatives
  INNER JOIN averaged USING (point_id)
  WHERE mean IS NOT NULL AND risk IS NOT NULL
  WINDOW less_exposed AS (
    PARTITION BY workload ORDER BY risk
    RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW EXCLUDE GROUP
  )
)

SELECT
  configurations.* EXCLUDE (point_id, plan_row),
  risk AS $risk,
  risk - risk_half_width AS "{risk}_low",
  risk + risk_half_width AS "{risk}_high",
  mean AS $of,
  mean - mean_half_width AS "{of}_low",
  mean + mean_half_width AS "{of}_high",
  direction('{of}') * mean = best_here
  AND coalesce(direction('{of}') * mean > best_below, true) AS is_on_front,
  write_back_fraction,
  nullif(unprotected_s, 0) AS unprotected_s,
  nullif(dirty_lost_bytes, 0) AS dirty_lost_bytes
FROM ranked
INNER JOIN configurations USING (point_id)
ORDER BY risk, direction('{of}') * mean DESC, configurations.plan_row
