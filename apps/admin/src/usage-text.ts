import type { UsageRecord } from '#persistence';
import { attributionView, centsFromMicros, tagsText } from '#schemas';

type Value = string | number | boolean | null;

/** The fields of a record in every format. Amounts are in US cents with up to four decimals. */
const columns: Record<string, (record: UsageRecord) => Value> = {
  request_id: ({ requestId }) => requestId,
  run_id: ({ runId }) => runId,
  workspace: ({ workspace }) => workspace,
  credential: ({ credential }) => credential,
  key_prefix: ({ keyPrefix }) => keyPrefix,
  model: ({ model }) => model,
  provider: ({ provider }) => provider,
  route: ({ route }) => route,
  outcome: ({ outcome }) => outcome,
  bucket: ({ bucket }) => bucket,
  status: ({ status }) => status,
  admitted_at: ({ admittedAt }) => admittedAt,
  completed_at: ({ completedAt }) => completedAt,
  latency_ms: ({ latencyMs }) => latencyMs,
  cost_cents: ({ costMicros }) => centsFromMicros(costMicros),
  billed_cents: ({ billedMicros }) => centsFromMicros(billedMicros),
  basis: ({ basis }) => basis,
  caller_left: ({ callerLeft }) => callerLeft,
  tags: ({ attribution }) => tagsText(attributionView(attribution).tags) || null,
  end_user: ({ attribution }) => attributionView(attribution).user ?? null,
};

export const usageDocument = (record: UsageRecord): Record<string, Value> =>
  Object.fromEntries(Object.entries(columns).map(([name, valueOf]) => [name, valueOf(record)]));

interface ExportFormat {
  heading: string;
  line: (record: UsageRecord) => string;
}

/** The export formats. Each text includes its line ending. */
export const exportFormats = {
  csv: {
    heading: `${Object.keys(columns).join(',')}\r\n`,
    line: (record) => `${Object.values(usageDocument(record)).map(csvCell).join(',')}\r\n`,
  },
  jsonl: { heading: '', line: (record) => `${JSON.stringify(usageDocument(record))}\n` },
} as const satisfies Record<string, ExportFormat>;

/** A cell as in RFC 4180. A text that a spreadsheet would read as a formula gets an apostrophe in front. */
export function csvCell(value: Value): string {
  const isFormula = typeof value === 'string' && /^[=+\-@\t\r]/.test(value);
  const text = value === null ? '' : `${isFormula ? "'" : ''}${value}`;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
