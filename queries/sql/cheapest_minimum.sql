-- name: cheapest
-- studies: minimum
-- purpose: Price of each configuration at its answer, cheapest first; the prices are those of the study.
-- row: one per point with an answer; points that were not searched to the end have none
SELECT
  answers.price,
  answers.answer,
  configurations.* EXCLUDE (point_id, plan_row),
  answers.failing,
  answers.binding,
  answers.limiting
FROM answers
INNER JOIN configurations USING (point_id)
WHERE answers.answer IS NOT NULL AND answers.censored IS NULL
ORDER BY answers.price NULLS LAST, answers.answer, configurations.plan_row
