-- name: knee
-- studies: any
-- purpose: Knee of each curve: the value of an axis above which an increase gains less on average than over the whole curve.
-- parameter: x [axis] = controller.cache.capacity: the axis along the curve, with numbers as values
-- parameter: of [column] = result: what is gained: the load of a seek, the completion time of a replay, or the 95th percentile of response times
-- column: knee [unit of {x}]: value of {x} at which the curve is furthest above the line between its ends
-- column: knee_least [unit of {x}]: least knee of the curve of one replicate
-- column: knee_most [unit of {x}]: largest knee of the curve of one replicate
-- column: gained_fraction [fraction]: gain from the smallest {x} to the knee, as a fraction of the gain to the largest {x}
-- column: values [count]: values of {x} on the curve
-- row: one per configuration of the other axes that has a result for at least three values of the axis, and a better one at the largest than at the smallest
WITH measured AS (
  SELECT point_id, replicate, mean_of($of) AS measure FROM replicates GROUP BY point_id, replicate
),

places AS (
  SELECT
    point_id,
    plan_row,
    $x AS x,
    '{x}' = 'controller.cache.capacity' AND x = 0 AS is_bare,
    row(*COLUMNS(* EXCLUDE (point_id, plan_row, $x))) AS others,
    row(
      *COLUMNS(
        lambda axis: axis NOT IN ('point_id', 'plan_row', '{x}')
        AND NOT regexp_matches(axis, '^controller[.](cache|battery)[.]')
      )
    ) AS outside
  FROM configurations
  WHERE $x IS NOT NULL
),

-- Without a cache, its other settings and its battery have no effect, and have no value there: the
-- point is the start of every curve that is equal outside the cache.
along_x AS (
  SELECT point_id, plan_row, x, others FROM places WHERE NOT is_bare
  UNION ALL
  SELECT bare.point_id, NULL, bare.x, curve.others
  FROM (SELECT DISTINCT others, outside FROM places WHERE NOT is_bare) AS curve
  INNER JOIN places AS bare USING (outside)
  WHERE bare.is_bare
),

-- The mean curve is that of replicate null.
curves AS (
  SELECT replicate, others, plan_row, x, measure, direction('{of}') * measure AS merit
  FROM along_x
  INNER JOIN measured USING (point_id)
  UNION ALL
  SELECT NULL, others, plan_row, x, mean_of(measure), direction('{of}') * mean_of(measure)
  FROM along_x
  INNER JOIN measured USING (point_id)
  GROUP BY others, plan_row, x
),

scaled AS (
  SELECT
    *,
    (x - first(x) OVER along) / nullif(last(x) OVER along - first(x) OVER along, 0) AS x_share,
    (merit - first(merit) OVER along) / nullif(last(merit) OVER along - first(merit) OVER along, 0) AS merit_share,
    last(merit) OVER along - first(merit) OVER along AS gain,
    count(*) OVER along AS n_values
  FROM curves
  WHERE merit IS NOT NULL
  WINDOW along AS (
    PARTITION BY replicate, others ORDER BY x ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING
  )
),

knees AS (
  SELECT replicate, others, x, measure, merit_share, n_values, min(plan_row) OVER (PARTITION BY others) AS plan_row
  FROM scaled
  WHERE gain > 0 AND n_values > 2
  QUALIFY row_number() OVER (PARTITION BY replicate, others ORDER BY merit_share - x_share DESC, x) = 1
),

ranges AS (
  SELECT others, min(x) AS knee_least, max(x) AS knee_most FROM knees WHERE replicate IS NOT NULL GROUP BY others
)

SELECT
  configurations.* EXCLUDE (point_id, plan_row, $x),
  knees.x AS knee,
  ranges.knee_least,
  ranges.knee_most,
  knees.measure AS $of,
  knees.merit_share AS gained_fraction,
  knees.n_values AS values
FROM knees
INNER JOIN ranges ON knees.others IS NOT DISTINCT FROM ranges.others
INNER JOIN configurations USING (plan_row)
WHERE knees.replicate IS NULL
ORDER BY plan_row
