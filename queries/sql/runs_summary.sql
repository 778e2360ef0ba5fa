-- name: runs_summary
-- studies: any
-- purpose: Runs by status, with their requests, events and engine time.
-- column: runs [count]: runs with this status
-- column: engine_s [s]: elapsed time of these runs in the engine, summed
-- column: first_error: message of one of them, if they failed
-- row: one per status
WITH executed AS (
  -- Points that share a run have a row each in `runs`; the run is counted once.
  SELECT status, error, requests, events, prov_engine_s FROM stored_rows
  WHERE run_id IN (SELECT run_id FROM plan)
)

SELECT
  status,
  count(*) AS runs,
  sum(requests)::BIGINT AS requests,
  sum(events)::BIGINT AS events,
  sum_of(prov_engine_s) AS engine_s,
  any_value(error) AS first_error
FROM executed
GROUP BY status
ORDER BY runs DESC
