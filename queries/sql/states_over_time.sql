-- name: states_over_time
-- studies: any
-- purpose: States of mains, battery, write cache, dirty data, arrays and disks over time, in the first replicate of each point.
-- column: lane: the component in this state, such as battery or disk 3; `events` for an event
-- column: state: its state, or the event
-- column: condition: good (normal), wait (changing or degraded) or bad
-- column: from_s [s]: start of the state, from the start of the run
-- column: until_s [s]: end of the state; null for an event
-- column: dirty_bytes [bytes]: dirty data at the start of the state
-- column: progress_fraction [fraction]: progress of the rebuild at the start of the state
-- row: one per state, or per event (until_s is null), of the first replicate of each point
WITH meanings (event, lane, state, condition, before) AS (
  -- condition: as it should be (good), in between (wait) or not (bad); before: the state until then
  VALUES
  ('mains_lost', 'mains', 'lost', 'bad', 'on'),
  ('mains_back', 'mains', 'on', 'good', 'lost'),
  ('battery_charging', 'battery', 'charging', 'wait', 'charged'),
  ('battery_ready', 'battery', 'above its threshold', 'good', 'charging'),
  ('battery_charged', 'battery', 'charged', 'good', 'charging'),
  ('battery_discharging', 'battery', 'discharging', 'wait', 'charged'),
  ('battery_low', 'battery', 'below its threshold', 'bad', 'discharging'),
  ('battery_empty', 'battery', 'empty', 'bad', 'discharging'),
  ('battery_failed', 'battery', 'failed', 'bad', 'charged'),
  ('write_back_enabled', 'write cache', 'write-back', 'good', 'write-through'),
  ('write_back_disabled', 'write cache', 'write-through', 'bad', 'write-back'),
  ('array_degraded', 'array', 'degraded', 'wait', 'optimal'),
  ('array_optimal', 'array', 'optimal', 'good', 'degraded'),
  ('array_failed', 'array', 'failed', 'bad', 'degraded'),
  ('disk_failed', 'disk', 'failed', 'bad', 'working'),
  ('rebuild_started', 'disk', 'rebuilding', 'wait', 'failed'),
  ('rebuild_progress', 'disk', 'rebuilding', 'wait', 'failed'),
  ('rebuild_done', 'disk', 'rebuilt', 'good', 'rebuilding'),
  ('battery_low', 'dirty data', 'at risk', 'bad', 'protected'),
  ('battery_empty', 'dirty data', 'at risk', 'bad', 'protected'),
  ('battery_failed', 'dirty data', 'at risk', 'bad', 'protected'),
  ('dirty_lost', 'dirty data', 'lost', 'bad', 'protected'),
  ('dirty_preserved', 'dirty data', 'protected', 'good', 'protected'),
  ('drained', 'dirty data', 'drained', 'good', 'protected'),
  ('battery_ready', 'dirty data', 'protected', 'good', 'at risk')
),

first_runs AS (
  SELECT DISTINCT ON (runs.run_id) runs.run_id, configurations.* EXCLUDE (point_id)
  FROM runs
  INNER JOIN configurations USING (point_id)
  WHERE runs.replicate = 0
  ORDER BY runs.run_id, configurations.plan_row
),

ends AS (
  SELECT run_id, max(at_s) AS end_s FROM timeline GROUP BY run_id
),

-- Transitions without a lane of their own, and those of dirty data, are events.
events AS (
  SELECT
    run_id,
    step,
    'events' AS lane,
    replace(event, '_', ' ') AS state,
    if(event IN ('dirty_lost', 'array_failed'), 'bad', 'good') AS condition,
    at_s AS from_s,
    NULL::DOUBLE AS until_s,
    if(event IN ('drained', 'dirty_preserved', 'dirty_lost', 'cache_copied'), value, NULL) AS dirty_bytes,
    NULL::DOUBLE AS progress_fraction
  FROM timeline
  ANTI JOIN (FROM meanings WHERE lane <> 'dirty data') AS in_lanes USING (event)
  WHERE event NOT IN ('window_begins', 'window_ends')
),

changes AS (
  SELECT
    timeline.run_id,
    timeline.step,
    -- A single array is called array.
    trim(meanings.lane || ' ' || regexp_replace(timeline.subject, '^array(/|$)', '')) AS lane,
    meanings.state,
    meanings.condition,
    meanings.before,
    timeline.at_s AS from_s,
    if(timeline.event IN ('mains_lost', 'write_back_disabled'), timeline.value, NULL) AS dirty_bytes,
    if(timeline.event IN ('rebuild_started', 'rebuild_progress'), timeline.value, NULL) AS progress_fraction
  FROM timeline
  INNER JOIN meanings USING (event)
),

begun AS (
  SELECT * EXCLUDE (before), FROM changes
  UNION ALL
  -- Until its first change, each thing is in the state before.
  SELECT
    run_id,
    0,
    lane,
    before,
    if(before IN ('on', 'charged', 'write-back', 'optimal', 'working', 'protected'), 'good', 'wait'),
    0,
    NULL,
    NULL
  FROM changes
  QUALIFY row_number() OVER (PARTITION BY run_id, lane ORDER BY step) = 1 AND from_s > 0
),

states AS (
  SELECT
    run_id,
    step,
    lane,
    state,
    condition,
    from_s,
    coalesce(lead(from_s) OVER (PARTITION BY run_id, lane ORDER BY step), end_s) AS until_s,
    dirty_bytes,
    progress_fraction
  FROM begun
  INNER JOIN ends USING (run_id)
),

listed AS (
  SELECT * FROM states WHERE until_s > from_s
  -- Dirty data is listed only if it was ever at risk.
  QUALIFY lane <> 'dirty data' OR bool_or(condition = 'bad') OVER (PARTITION BY run_id, lane)
  UNION ALL
  SELECT * FROM events
)

SELECT first_runs.* EXCLUDE (plan_row), listed.* EXCLUDE (run_id, step)
FROM listed
INNER JOIN first_runs USING (run_id)
ORDER BY first_runs.plan_row, listed.from_s, listed.lane, listed.step
