-- name: unanswered
-- studies: fixed
-- purpose: The points without an answer: what did not become steady in their runs, and the max_requests that they need.
-- column: remedy: what to change
-- row: one per point without a run of status ok that has a run of status not_stationary
WITH judged AS (
  SELECT
    point_id,
    count(*) FILTER (WHERE status = 'not_stationary') AS n_not_stationary,
    count(*) FILTER (WHERE status = 'ok') AS n_ok,
    max(unsettled) FILTER (WHERE status = 'not_stationary') AS unsettled,
    max(requests_needed) FILTER (WHERE status = 'not_stationary') AS requests_needed
  FROM runs
  GROUP BY point_id
)

SELECT
  configurations.* EXCLUDE (point_id, plan_row),
  n_not_stationary,
  unsettled,
  requests_needed,
  CASE
    WHEN requests_needed IS NOT NULL THEN 'raise run.max_requests'
    ELSE 'reduce the load, or give run.warm_up and run.window'
  END AS remedy
FROM judged
INNER JOIN configurations USING (point_id)
WHERE n_ok = 0 AND n_not_stationary > 0
ORDER BY plan_row
