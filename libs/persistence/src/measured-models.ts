import type { Database } from './database.js';

/** The length and speed of a model's answers, as its finished runs show them. Null if the runs are too few. */
interface MeasuredAnswers {
  model: string;
  /** The number of tokens that 99 of 100 answers do not exceed if the input sets no limit. At most 25 % too high. */
  likelyTokens: number | null;
  tokensPerSecond: number | null;
}

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
/** Fewer runs have no 99th percentile worth reserving: of all workspaces together, and of one. */
const minOpenRuns = 1000;
const minOpenRunsOfOne = 100;

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

/**
 * Measures the answers of the last thirty days. Each figure is the median of those of the workspaces, so that no workspace
 * decides it, however many runs it has or however long they are.
 */
export async function measuredAnswers(database: Database): Promise<MeasuredAnswers[]> {
  return database.reads.query(
    `WITH counted AS MATERIALIZED (
        SELECT model, space, name, sum(number::numeric) AS number
        FROM measured_runs, jsonb_each(answers) AS of_space (space, counts), jsonb_each_text(counts) AS each (name, number)
        WHERE day > timezone('UTC', router_statement_now())::date - 30 GROUP BY 1, 2, 3
      ), stepped AS (
        SELECT model, space, name::integer AS step, sum(number) OVER (PARTITION BY model, space ORDER BY name::integer) AS up_to,
          sum(number) OVER (PARTITION BY model, space) AS runs
        FROM counted WHERE name ~ '^[0-9]+$'
      ), long AS (
        SELECT model, space, min(step) AS step, max(runs) AS runs FROM stepped WHERE up_to >= 0.99 * runs GROUP BY 1, 2
      ), fast AS (
        SELECT model, space, max(number) FILTER (WHERE name = 'timed') AS runs,
          1000 * max(number) FILTER (WHERE name = 'tokens') / max(number) FILTER (WHERE name = 'ms') AS rate
        FROM counted WHERE name IN ('timed', 'tokens', 'ms') GROUP BY 1, 2
      ), likely AS (
        SELECT model, ceil(1.25 ^ percentile_disc(0.5) WITHIN GROUP (ORDER BY step))::float AS tokens
        FROM long WHERE runs >= $3 GROUP BY 1 HAVING sum(runs) >= $2 AND count(*) >= $4
      ), speed AS (
        SELECT model, percentile_disc(0.5) WITHIN GROUP (ORDER BY rate)::float AS rate
        FROM fast GROUP BY 1 HAVING sum(runs) >= $1 AND count(*) >= $4
      )
      SELECT model, tokens AS "likelyTokens", rate AS "tokensPerSecond" FROM likely FULL JOIN speed USING (model) ORDER BY 1`,
    [minRuns, minOpenRuns, minOpenRunsOfOne, minWorkspaces],
  );
}
