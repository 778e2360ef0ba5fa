-- name: split_optimum
-- studies: any
-- purpose: Read/write split optimum: the best share of the cache for writes, and its advantage over the second best.
-- axis: controller.cache.write_fraction
-- parameter: of [column] = result: what is best: the load of a seek, the completion time of a replay, or the 95th percentile of response times
-- column: best_write_fraction [fraction]: share of the cache for writes with the best mean of {of}; the smallest of equal ones
-- column: second_write_fraction [fraction]: share with the second best mean
-- column: lead_{of} [unit of {of}]: advantage of the best over the second best share, mean over replicates
-- column: is_clear: whether the 95 % interval of that advantage excludes zero; null with fewer than two replicates
-- column: pairs [count]: replicates in which both shares were measured
-- row: one per configuration of the other axes; means over replicates
WITH measured AS (
  SELECT point_id, replicate, mean_of($of) AS measure FROM replicates GROUP BY point_id, replicate
),

means AS (
  SELECT point_id, mean_of(measure) AS mean FROM measured GROUP BY point_id HAVING mean IS NOT NULL
),

places AS (
  SELECT
    point_id,
    "controller.cache.write_fraction" AS write_fraction,
    row(*COLUMNS(* EXCLUDE (point_id, plan_row, "controller.cache.write_fraction"))) AS others
  FROM configurations
  WHERE "controller.cache.write_fraction" IS NOT NULL
),

ranked AS (
  SELECT
    point_id,
    mean,
    write_fraction,
    lead(point_id) OVER best_first AS second_id,
    lead(write_fraction) OVER best_first AS second_write_fraction,
    row_number() OVER best_first AS rank
  FROM places
  INNER JOIN means USING (point_id)
  WINDOW best_first AS (PARTITION BY others ORDER BY direction('{of}') * mean DESC, write_fraction)
),

leads AS (
  SELECT
    best.point_id,
    mean_of(direction('{of}') * (best.measure - second.measure)) AS ahead,
    half_width(direction('{of}') * (best.measure - second.measure)) AS ahead_half_width,
    count(best.measure - second.measure) AS pairs
  FROM ranked
  INNER JOIN measured AS best USING (point_id)
  INNER JOIN measured AS second ON ranked.second_id = second.point_id AND best.replicate = second.replicate
  WHERE ranked.rank = 1
  GROUP BY best.point_id
)

SELECT
  configurations.* EXCLUDE (point_id, plan_row, "controller.cache.write_fraction"),
  ranked.write_fraction AS best_write_fraction,
  ranked.mean AS $of,
  ranked.second_write_fraction,
  leads.ahead AS "lead_{of}",
  leads.ahead - leads.ahead_half_width AS "lead_{of}_low",
  leads.ahead + leads.ahead_half_width AS "lead_{of}_high",
  leads.ahead > leads.ahead_half_width AS is_clear,
  leads.pairs
FROM ranked
INNER JOIN configurations USING (point_id)
LEFT JOIN leads USING (point_id)
WHERE ranked.rank = 1
ORDER BY configurations.plan_row
