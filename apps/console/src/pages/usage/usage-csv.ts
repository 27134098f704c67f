import type { UsageRow } from './usage-sums.ts';

/** Escapes key names so that a spreadsheet never reads them as a formula. */
export function csvOf(rows: readonly UsageRow[], keyNames: ReadonlyMap<string, string>): string {
  const lines = rows.map(({ day = '', model = '', key_id = '', runs, succeeded, cost_cents }) =>
    [day, model, key_id, cell(keyNames.get(key_id) ?? ''), runs, succeeded, cost_cents].join(','),
  );
  return ['day,model,key_id,key,runs,succeeded,cost_cents', ...lines, ''].join('\r\n');
}

const cell = (text: string): string => `"${text.replace(/^[=+\-@\t\r]/, "'$&").replaceAll('"', '""')}"`;
