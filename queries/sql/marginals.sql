-- name: marginals
-- studies: any
-- purpose: Marginals: for each value of each axis, the mean result of the points with this value, and its difference from the mean of all points.
-- parameter: of [column] = result: the result: the load of a seek, the completion time of a replay, or the 95th percentile of response times
-- column: axis: name of the axis
-- column: value [base unit of the axis]: value of the axis, as text
-- column: effect_{of} [unit of {of}]: difference from the mean of all points
-- column: points [count]: combinations of the grid with this value in the mean
-- row: one per value of each axis with at least two values; means over the points that have a result in every replicate
WITH measured AS (
  SELECT point_id, replicate, mean_of($of) AS measure
  FROM replicates
  WHERE $of IS NOT NULL
  GROUP BY point_id, replicate
),

-- A point of which a condition leaves out an axis has a row for each value, all with one written_id.
cells AS MATERIALIZED (
  SELECT row_number() OVER (ORDER BY plan_row) AS cell, * FROM grid
),

-- The mean is over the grid as written: a point at which an axis has no effect counts for each of its values.
-- With a point that a replicate lacks, the means of replicates would be of different points.
complete AS (
  SELECT cells.cell, replicate, measure
  FROM measured
  INNER JOIN cells USING (point_id)
  WHERE point_id IN (
    SELECT point_id FROM measured
    GROUP BY point_id
    HAVING count(*) = (SELECT count(DISTINCT replicate) FROM measured)
  )
),

overall AS (
  SELECT replicate, mean_of(measure) AS mean FROM complete GROUP BY replicate
),

settings AS (
  UNPIVOT (
    SELECT cell, plan_row, COLUMNS(* EXCLUDE (cell, written_id, point_id, plan_row))::VARCHAR
    FROM cells
  )
  ON COLUMNS(* EXCLUDE (cell, plan_row))
  INTO NAME axis VALUE value
),

levels AS (
  SELECT
    settings.axis,
    settings.value,
    complete.replicate,
    min(settings.plan_row) AS plan_row,
    mean_of(complete.measure) AS mean,
    mean_of(complete.measure) - any_value(overall.mean) AS effect,
    count(*) AS points
  FROM settings
  INNER JOIN complete USING (cell)
  INNER JOIN overall USING (replicate)
  GROUP BY settings.axis, settings.value, complete.replicate
),

averaged AS (
  SELECT
    axis,
    value,
    min(plan_row) AS plan_row,
    mean_of(mean) AS mean,
    half_width(mean) AS mean_half_width,
    mean_of(effect) AS effect,
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
