-- name: pareto
-- studies: any
-- purpose: Pareto front: the points for which no other point with the same workload has a better result at the same or a lower cost.
-- parameter: cost [column] = controller.cache.capacity: the cost; less is better
-- parameter: of [column] = result: the result: the load of a seek, the completion time of a replay, or the 95th percentile of response times
-- column: cost [unit of {cost}]: mean of {cost} over replicates
-- column: gain_{of} [unit of {of}]: improvement of {of} over the next cheaper point of the front
-- row: one per point of the front, the cheapest first; means over replicates
WITH measured AS (
  SELECT point_id, replicate, mean_of($of) AS measure, mean_of($cost) AS cost
  FROM replicates
  GROUP BY point_id, replicate
),

averaged AS (
  SELECT
    point_id,
    mean_of(measure) AS mean,
    -- The interval of an answer has the error of its fitted line, too.
    coalesce(if('{of}' = 'answer', any_value(fitted), NULL), half_width(measure)) AS mean_half_width,
    mean_of(cost) AS cost
  FROM measured
  LEFT JOIN (SELECT point_id, answer_half_width AS fitted FROM answers) USING (point_id)
  GROUP BY point_id
),

-- In this order, a point is on the front if it is better than all points before it.
ranked AS (
  SELECT
    *,
    direction('{of}') * mean AS merit,
    max(direction('{of}') * mean) OVER (
      PARTITION BY workload
      ORDER BY cost, direction('{of}') * mean DESC, plan_row
      ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
    ) AS merit_before
  FROM alternatives
  INNER JOIN averaged USING (point_id)
  WHERE mean IS NOT NULL AND cost IS NOT NULL
)

SELECT
  configurations.* EXCLUDE (point_id, plan_row),
  cost,
  mean AS $of,
  mean - mean_half_width AS "{of}_low",
  mean + mean_half_width AS "{of}_high",
  merit - merit_before AS "gain_{of}"
FROM ranked
INNER JOIN configurations USING (point_id)
WHERE coalesce(merit > merit_before, true)
ORDER BY ranked.workload, ranked.cost
