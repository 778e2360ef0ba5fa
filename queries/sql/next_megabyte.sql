-- name: next_megabyte
-- studies: any
-- purpose: Value of the next megabyte: the gain of each cache capacity over the next smaller one.
-- axis: controller.cache.capacity
-- parameter: of [column] = result: what is gained: the load of a seek, the completion time of a replay, or the 95th percentile of response times
-- column: from_capacity_bytes [bytes]: the next smaller capacity, with which this point is compared
-- column: gain_{of} [unit of {of}]: improvement of {of} by the step, mean over replicates; negative if it gets worse
-- column: gain_per_mib_{of} [unit of {of} per MiB]: gain_{of} divided by the added capacity in MiB
-- column: pairs [count]: replicates in which both capacities were measured
-- row: one per point that has a next smaller capacity; means over replicates
WITH measured AS (
  SELECT point_id, replicate, mean_of($of) AS measure FROM replicates GROUP BY point_id, replicate
),

places AS (
  SELECT
    point_id,
    "controller.cache.capacity" AS capacity,
    row(*COLUMNS(* EXCLUDE (point_id, plan_row, "controller.cache.capacity"))) AS others,
    row(
      *COLUMNS(
        lambda axis: axis NOT IN ('point_id', 'plan_row')
        AND NOT regexp_matches(axis, '^controller[.](cache|battery)[.]')
      )
    ) AS outside
  FROM configurations
),

-- Without a cache, its other settings and its battery have no effect, and have no value there: the
-- point is the start of every curve that is equal outside the cache.
curves AS (
  SELECT point_id, capacity, others FROM places WHERE capacity > 0
  UNION ALL
  SELECT bare.point_id, 0, curve.others
  FROM (SELECT DISTINCT others, outside FROM places WHERE capacity > 0) AS curve
  INNER JOIN places AS bare USING (outside)
  WHERE bare.capacity = 0
),

steps AS (
  SELECT
    point_id AS large_id,
    lag(point_id) OVER along AS small_id,
    lag(capacity) OVER along AS from_capacity_bytes,
    (capacity - from_capacity_bytes) / 2 ** 20 AS step_mib
  FROM curves
  WINDOW along AS (PARTITION BY others ORDER BY capacity)
),

-- The replicates of both points have the same random streams, which a difference within each cancels.
gains AS (
  SELECT
    steps.large_id AS point_id,
    steps.from_capacity_bytes,
    steps.step_mib,
    large.measure,
    direction('{of}') * (large.measure - small.measure) AS gain
  FROM steps
  INNER JOIN measured AS small ON steps.small_id = small.point_id
  INNER JOIN measured AS large ON steps.large_id = large.point_id AND small.replicate = large.replicate
  WHERE small.measure IS NOT NULL AND large.measure IS NOT NULL
),

averaged AS (
  SELECT
    point_id,
    from_capacity_bytes,
    step_mib,
    mean_of(measure) AS measure,
    mean_of(gain) AS gain,
    half_width(gain) AS gain_half_width,
    count(*) AS pairs
  FROM gains
  GROUP BY point_id, from_capacity_bytes, step_mib
)

SELECT
  configurations.* EXCLUDE (point_id, plan_row),
  from_capacity_bytes,
  measure AS $of,
  gain AS "gain_{of}",
  gain - gain_half_width AS "gain_{of}_low",
  gain + gain_half_width AS "gain_{of}_high",
  gain / step_mib AS "gain_per_mib_{of}",
  (gain - gain_half_width) / step_mib AS "gain_per_mib_{of}_low",
  (gain + gain_half_width) / step_mib AS "gain_per_mib_{of}_high",
  pairs
FROM averaged
INNER JOIN configurations USING (point_id)
ORDER BY configurations.plan_row
