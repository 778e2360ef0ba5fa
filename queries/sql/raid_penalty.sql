-- name: raid_penalty
-- studies: any
-- purpose: RAID penalty: how much worse each level is than a reference level, and the disk I/Os that it needs per request.
-- axis: array.raid
-- parameter: reference [RAID level] = '10': the level to compare with; a configuration without it is compared with its best level
-- parameter: of [column] = result: what is compared: the load of a seek, the completion time of a replay, or the 95th percentile of response times
-- column: reference_raid: the RAID level compared with
-- column: penalty_ratio [ratio]: how many times worse {of} is than with the reference level, mean over replicates; below 1 if better
-- column: disk_ios_per_request [ratio]: reads and writes of the disks per read and write of the hosts
-- column: pairs [count]: replicates in which both levels were measured
-- row: one per point; means over replicates
WITH measured AS (
  SELECT
    point_id,
    replicate,
    mean_of($of) AS measure,
    sum(disk_reads + disk_writes) / nullif(sum(requests), 0) AS disk_ios
  FROM replicates
  GROUP BY point_id, replicate
),

places AS (
  SELECT
    point_id,
    "array.raid" AS raid,
    row(*COLUMNS(* EXCLUDE (point_id, plan_row, "array.raid"))) AS others
  FROM configurations
),

means AS (
  SELECT point_id, mean_of(measure) AS mean, mean_of(disk_ios) AS disk_ios FROM measured GROUP BY point_id
),

compared AS (
  SELECT
    point_id,
    mean,
    disk_ios,
    first(point_id) OVER reference_first AS reference_id,
    first(raid) OVER reference_first AS reference_raid
  FROM places
  INNER JOIN means USING (point_id)
  WHERE mean IS NOT NULL
  WINDOW reference_first AS (
    PARTITION BY others
    ORDER BY raid = $reference DESC, direction('{of}') * mean DESC
    ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING
  )
),

-- The replicates of both levels have the same random streams, which a ratio within each cancels.
ratios AS (
  SELECT
    compared.point_id,
    (this.measure / nullif(reference.measure, 0)) ** -direction('{of}') AS penalty
  FROM compared
  INNER JOIN measured AS this USING (point_id)
  INNER JOIN measured AS reference
    ON compared.reference_id = reference.point_id AND this.replicate = reference.replicate
),

penalties AS (
  SELECT point_id, mean_of(penalty) AS penalty, half_width(penalty) AS penalty_half_width, count(penalty) AS pairs
  FROM ratios
  GROUP BY point_id
)

SELECT
  configurations.* EXCLUDE (point_id, plan_row),
  compared.mean AS $of,
  compared.reference_raid,
  penalties.penalty AS penalty_ratio,
  penalties.penalty - penalties.penalty_half_width AS penalty_ratio_low,
  penalties.penalty + penalties.penalty_half_width AS penalty_ratio_high,
  compared.disk_ios AS disk_ios_per_request,
  penalties.pairs
FROM compared
INNER JOIN penalties USING (point_id)
INNER JOIN configurations USING (point_id)
ORDER BY configurations.plan_row
