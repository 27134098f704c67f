import type { Database } from './database.js';

/** The time and the success of a model's runs. */
export interface MeasuredModel {
  model: string;
  /** How many days the runs are from, up to today. */
  days: number;
  /** The runs that succeeded, and those that failed through the provider's fault. */
  runs: number;
  succeeded: number;
  /** The median time of a run that succeeded, from its dispatch to its end. Null if none did. */
  medianSeconds: number | null;
}

/** Fewer runs say little about a model, and runs of fewer workspaces would say something about these. */
const minRuns = 50;
const minWorkspaces = 3;

/**
 * Measures the models with enough runs in the last seven days, or else in the last thirty, over all workspaces. A run
 * counts once its hour is added up (`add_up_usage`). It reads one row for each model and day, however many runs there
 * were. A median is within 5 % of the exact one.
 */
export async function measuredModels(database: Database): Promise<MeasuredModel[]> {
  return database.reads.query(
    // Without joins, because the planner cannot know how many rows these parts have.
    `WITH recent AS MATERIALIZED (
        SELECT days, measured_runs.* FROM measured_runs, (VALUES (7), (30)) AS period (days)
        WHERE day > timezone('UTC', router_statement_now())::date - 30 AND day > timezone('UTC', router_statement_now())::date - days
      ), stepped AS (
        SELECT model, days, step, sum(sum(taken)) OVER (PARTITION BY model, days ORDER BY step) AS up_to,
          sum(sum(taken)) OVER (PARTITION BY model, days) AS succeeded
        FROM recent, unnest(times) WITH ORDINALITY AS each (taken, step) WHERE taken > 0 GROUP BY 1, 2, 3
      ), part (model, days, runs, succeeded, workspaces, step) AS (
        SELECT model, days, sum(runs), sum(succeeded), NULL::bigint, NULL::bigint FROM recent GROUP BY 1, 2
        UNION ALL SELECT model, days, NULL, NULL, count(DISTINCT workspace), NULL FROM recent, unnest(workspaces) AS workspace GROUP BY 1, 2
        UNION ALL SELECT model, days, NULL, NULL, NULL, min(step) FROM stepped WHERE 2 * up_to >= succeeded GROUP BY 1, 2
      )
      SELECT DISTINCT ON (model) model, days, max(runs)::float AS runs, max(succeeded)::float AS succeeded,
        (0.1 * 1.1 ^ (max(step) - 0.5))::float AS "medianSeconds"
      FROM part GROUP BY 1, 2 HAVING max(runs) >= $1 AND max(workspaces) >= $2 ORDER BY model, days`,
    [minRuns, minWorkspaces],
  );
}
