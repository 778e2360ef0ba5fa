-- name: cheapest
-- studies: seek
-- purpose: Price of each configuration that supports a load, cheapest first; the low end of its interval must reach the load.
-- setting: array.disks
-- setting: controller.cache.capacity
-- parameter: load [unit of the load] = 1: required load, such as the number of users
-- parameter: disk_price [currency] = 1: price of a disk
-- parameter: cache_price [currency per GiB] = 1: price of a GiB of cache
-- column: price [currency]: price of all disks and of the cache
-- column: margin_fraction [fraction]: low end of the interval of the answer divided by the load, minus 1
-- row: one per point whose interval lies at or above the load, the cheapest first
WITH priced AS (
  SELECT
    configurations.*,
    "array.disks" * $disk_price + "controller.cache.capacity" / 2 ** 30 * $cache_price AS price
  FROM configurations
),

-- Without an interval, as of a bound or of one replicate, the answer itself is compared.
carried AS (
  SELECT
    point_id,
    answer,
    answer_low,
    answer_high,
    censored,
    limiting,
    coalesce(answer_low, answer) AS least
  FROM answers
  WHERE censored IS DISTINCT FROM 'below'
)

SELECT
  priced.* EXCLUDE (point_id, plan_row),
  answer,
  answer_low,
  answer_high,
  least / $load - 1 AS margin_fraction,
  limiting,
  censored
FROM priced
INNER JOIN carried USING (point_id)
WHERE least >= $load
ORDER BY priced.price, least DESC, priced.plan_row
