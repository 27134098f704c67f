import type { UsageRow } from '../../api/usage.ts';
import { quoted } from '../../parts/csv.ts';

export function csvOf(rows: readonly UsageRow[], keyNames: ReadonlyMap<string, string>): string {
  const lines = rows.map(({ day = '', model = '', key_id = '', runs, succeeded, cost_cents }) =>
    [day, model, key_id, quoted(keyNames.get(key_id) ?? ''), runs, succeeded, cost_cents].join(','),
  );
  return ['day,model,key_id,key,runs,succeeded,cost_cents', ...lines, ''].join('\r\n');
}
