-- name: write_through_penalty
-- studies: any
-- purpose: Write-through penalty: how much worse each configuration is without the protection of its battery.
-- axis: controller.battery.state
-- parameter: protected [battery state] = 'present': the state in which the cache writes back
-- parameter: dead [battery state] = 'absent': the state in which it writes through
-- parameter: of [column] = result: what is compared: the load of a seek, the completion time of a replay, or the 95th percentile of response times
-- column: without_battery_{of} [unit of {of}]: {of} in the state `dead`; the column {of} has its value in the state `protected`
-- column: penalty_ratio [ratio]: how many times worse {of} is in the dead state, mean over replicates; below 1 if better
-- column: pairs [count]: replicates in which both states were measured
-- row: one per configuration of the other axes that has both states; means over replicates
WITH measured AS (
  SELECT point_id, replicate, mean_of($of) AS measure FROM replicates GROUP BY point_id, replicate
),

places AS (
  SELECT
    point_id,
    plan_row,
    "controller.battery.state" AS state,
    row(*COLUMNS(* EXCLUDE (point_id, plan_row, "controller.battery.state"))) AS others,
    row(
      *COLUMNS(
        lambda axis: axis NOT IN ('point_id', 'plan_row', 'controller.battery.state')
        AND NOT regexp_matches(axis, '^controller[.]cache[.]write')
      )
    ) AS outside
  FROM configurations
),

-- Without a battery, the settings of the write cache have no effect, and have no value there.
compared AS (
  SELECT alive.point_id, dead.point_id AS dead_id
  FROM places AS alive
  INNER JOIN places AS dead USING (outside)
  WHERE alive.state = $protected AND dead.state = $dead
  QUALIFY row_number() OVER (
    PARTITION BY alive.point_id ORDER BY alive.others = dead.others DESC, dead.plan_row
  ) = 1
),

-- The replicates of both states have the same random streams, which a ratio within each cancels.
penalties AS (
  SELECT
    compared.point_id,
    mean_of(alive.measure) AS alive_mean,
    mean_of(dead.measure) AS dead_mean,
    mean_of((dead.measure / nullif(alive.measure, 0)) ** -direction('{of}')) AS penalty,
    half_width((dead.measure / nullif(alive.measure, 0)) ** -direction('{of}')) AS penalty_half_width,
    count(*) AS pairs
  FROM compared
  INNER JOIN measured AS alive USING (point_id)
  INNER JOIN measured AS dead ON compared.dead_id = dead.point_id AND alive.replicate = dead.replicate
  WHERE alive.measure IS NOT NULL AND dead.measure IS NOT NULL
  GROUP BY compared.point_id
)

SELECT
  configurations.* EXCLUDE (point_id, plan_row, "controller.battery.state"),
  alive_mean AS $of,
  dead_mean AS "without_battery_{of}",
  penalty AS penalty_ratio,
  penalty - penalty_half_width AS penalty_ratio_low,
  penalty + penalty_half_width AS penalty_ratio_high,
  pairs
FROM penalties
INNER JOIN configurations USING (point_id)
ORDER BY configurations.plan_row
