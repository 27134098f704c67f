import type { UsageRecord } from '#persistence';
import { centsFromMicros } from '#schemas';

/** A record as every format carries it; amounts in US cents, with up to four decimals. */
export const usageDocument = (record: UsageRecord) => ({
  request_id: record.requestId,
  run_id: record.runId,
  workspace: record.workspace,
  credential: record.credential,
  key_prefix: record.keyPrefix,
  model: record.model,
  provider: record.provider,
  route: record.route,
  outcome: record.outcome,
  bucket: record.bucket,
  status: record.status,
  admitted_at: record.admittedAt,
  completed_at: record.completedAt,
  latency_ms: record.latencyMs,
  cost_cents: centsFromMicros(record.costMicros),
  billed_cents: centsFromMicros(record.billedMicros),
  basis: record.basis,
  caller_left: record.callerLeft,
});

const columns = [
  'request_id',
  'run_id',
  'workspace',
  'credential',
  'key_prefix',
  'model',
  'provider',
  'route',
  'outcome',
  'bucket',
  'status',
  'admitted_at',
  'completed_at',
  'latency_ms',
  'cost_cents',
  'billed_cents',
  'basis',
  'caller_left',
] as const satisfies readonly (keyof ReturnType<typeof usageDocument>)[];

interface ExportFormat {
  heading: string;
  line: (record: UsageRecord) => string;
}

/** What an export consists of; each text ends in its line's end. */
export const exportFormats = {
  csv: {
    heading: `${columns.join(',')}\r\n`,
    line: (record) => {
      const document = usageDocument(record);
      return `${columns.map((column) => csvCell(document[column])).join(',')}\r\n`;
    },
  },
  jsonl: { heading: '', line: (record) => `${JSON.stringify(usageDocument(record))}\n` },
} as const satisfies Record<string, ExportFormat>;

/** As RFC 4180 has it; nothing is an empty cell. A text that a spreadsheet would take for a formula begins with an apostrophe. */
export function csvCell(value: string | number | boolean | null): string {
  const isFormula = typeof value === 'string' && /^[=+\-@\t\r]/.test(value);
  const text = value === null ? '' : `${isFormula ? "'" : ''}${value}`;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
