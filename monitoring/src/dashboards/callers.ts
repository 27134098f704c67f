import type { Dashboard, Panel } from '../panel.js';

/** Workspaces and models cannot be metric labels, because their number is unbounded. The database lists the top ones. */
const top = (by: string, name: string): string => `SELECT ${by} AS "${name}", count(*) AS "runs",
  count(*) FILTER (WHERE outcome = 'failed') AS "failed",
  round(count(*) FILTER (WHERE outcome = 'failed')::numeric / count(*), 4) AS "share failed",
  mode() WITHIN GROUP (ORDER BY bucket) AS "most frequent bucket",
  percentile_disc(0.95) WITHIN GROUP (ORDER BY completed_at - admitted_at) AS "p95",
  round(sum(billed_micros) / 1e6, 2) AS "billed USD"
FROM audit_record JOIN workspace ON workspace.id = workspace_id
WHERE $__timeFilter(completed_at)
GROUP BY 1`;

const table = (title: string, says: string, sql: string, order: string): Panel => ({
  kind: 'table',
  title,
  says,
  unit: 'short',
  sql: `${sql}\nORDER BY "${order}" DESC, 1 LIMIT 20`,
  thresholds: [
    { from: null, color: 'transparent' },
    { from: 0.05, color: 'orange' },
    { from: 0.2, color: 'red' },
  ],
});

export const callers: Dashboard = {
  uid: 'model-router-callers',
  title: 'Model router: workspaces, models and providers',
  usesDatabase: true,
  rows: [
    {
      title: 'Most failed runs',
      panels: [
        table('Workspaces by failed runs', 'The top 20.', top('workspace.name', 'workspace'), 'failed'),
        table('Models by failed runs', 'The top 20.', top('model', 'model'), 'failed'),
        table('Providers by failed runs', 'The top 20.', top('provider', 'provider'), 'failed'),
        table(
          'Workspaces and their models by failed runs',
          'The top 20. Shows whether a model fails for one caller or for everyone.',
          top(`workspace.name || ' ' || model`, 'workspace and model'),
          'failed',
        ),
      ],
    },
    {
      title: 'Most runs',
      panels: [
        table('Workspaces by runs', 'The top 20.', top('workspace.name', 'workspace'), 'runs'),
        table('Models by runs', 'The top 20.', top('model', 'model'), 'runs'),
      ],
    },
  ],
};
