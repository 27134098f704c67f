import { quoted } from '../../parts/csv.ts';
import type { Run } from './use-runs.ts';

const columns: Record<string, (run: Run) => string | number | boolean | undefined> = {
  request_id: (run) => run.request_id,
  created_at: (run) => run.created_at,
  completed_at: (run) => run.completed_at,
  model: (run) => run.model,
  status: (run) => run.status,
  outcome: (run) => run.outcome,
  error_type: (run) => run.error_type,
  duration_ms: (run) => run.duration_ms,
  cost_cents: (run) => run.cost_cents,
  reserved_cents: (run) => run.reserved_cents,
  cost_basis: (run) => run.cost_basis,
  key_id: (run) => run.key_id,
  key_name: (run) => run.key_name,
  tags: ({ tags = {} }) =>
    Object.entries(tags)
      .map(([name, value]) => `${name}=${value}`)
      .join(','),
  user: (run) => run.user,
  kept: (run) => run.kept ?? false,
};

export function csvOfRuns(runs: readonly Run[]): string {
  const lines = runs.map((run) =>
    Object.values(columns)
      .map((valueOf) => cell(valueOf(run)))
      .join(','),
  );
  return [Object.keys(columns).join(','), ...lines, ''].join('\r\n');
}

const cell = (value: string | number | boolean = ''): string =>
  typeof value !== 'string' || value === '' ? String(value) : quoted(value);
