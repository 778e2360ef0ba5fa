-- name: marginals
-- studies: any
-- purpose: Marginals: for each value of each axis, the mean result of the points with this value, and its difference from the mean of all points.
-- parameter: of [column] = result: the result: the load of a seek, the completion time of a replay, or the 95th percentile of response times
-- column: axis: name of the axis
-- column: value [base unit of the axis]: value of the axis, as text
-- column: effect_{of} [unit of {of}]: difference from the mean of all points
-- column: points [count]: points with this value in the mean
-- row: one per value of each axis with at least two values; means over the points that have a result in every replicate
WITH measured AS (
  SELECT point_id, replicate, avg($of) AS measure
  FROM replicates
  WHERE $of IS NOT NULL AND point_id IN (SELECT point_id FROM configurations WHERE is_first)
  GROUP BY point_id, replicate
),

-- With a point that a replicate lacks, the means of replicates would be of different points.
complete AS (
  SELECT point_id, replicate, measure, avg(measure) OVER (PARTITION BY replicate) AS overall
  FROM measured
  WHERE point_id IN (
    SELECT point_id FROM measured
    GROUP BY point_id
    HAVING count(*) = (SELECT count(DISTINCT replicate) FROM measured)
  )
),

settings AS (
  UNPIVOT (
    SELECT point_id, plan_row, COLUMNS(* EXCLUDE (point_id, plan_row, is_first))::VARCHAR
    FROM configurations
    WHERE is_first
  )
  ON COLUMNS(* EXCLUDE (point_id, plan_row))
  INTO NAME axis VALUE value
),

levels AS (
  SELECT
    settings.axis,
    settings.value,
    complete.replicate,
    min(settings.plan_row) AS plan_row,
    avg(complete.measure) AS mean,
    avg(complete.measure) - any_value(complete.overall) AS effect,
    count(*) AS points
  FROM settings
  INNER JOIN complete USING (point_id)
  GROUP BY settings.axis, settings.value, complete.replicate
),

averaged AS (
  SELECT
    axis,
    value,
    min(plan_row) AS plan_row,
    avg(mean) AS mean,
    half_width(mean) AS mean_half_width,
    avg(effect) AS effect,
    half_width(effect) AS effect_half_width,
    any_value(points) AS points,
    count(*) AS n
  FROM levels
  GROUP BY axis, value
  QUALIFY count(*) OVER (PARTITION BY axis) > 1
)

SELECT
  coalesce(axes.name, averaged.axis) AS axis,
  averaged.value,
  averaged.mean AS $of,
  averaged.mean - averaged.mean_half_width AS "{of}_low",
  averaged.mean + averaged.mean_half_width AS "{of}_high",
  averaged.effect AS "effect_{of}",
  averaged.effect - averaged.effect_half_width AS "effect_{of}_low",
  averaged.effect + averaged.effect_half_width AS "effect_{of}_high",
  averaged.points,
  averaged.n
FROM averaged
LEFT JOIN axes ON averaged.axis = axes.path
ORDER BY axes.place, averaged.plan_row
