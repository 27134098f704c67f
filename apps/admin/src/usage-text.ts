import type { UsageRecord } from '#persistence';
import { attributionView, centsFromMicros, type CsvValue, csvLine, tagsText } from '#schemas';

/** The fields of a record in every format. Amounts are in US cents with up to four decimals. */
const columns: Record<string, (record: UsageRecord) => CsvValue> = {
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
  simulated: ({ simulated }) => simulated,
};

export const usageDocument = (record: UsageRecord): Record<string, CsvValue> =>
  Object.fromEntries(Object.entries(columns).map(([name, valueOf]) => [name, valueOf(record)]));

interface ExportFormat {
  heading: string;
  line: (record: UsageRecord) => string;
}

/** The export formats. Each text includes its line ending. */
export const exportFormats = {
  csv: {
    heading: csvLine(Object.keys(columns)),
    line: (record) => csvLine(Object.values(usageDocument(record))),
  },
  jsonl: { heading: '', line: (record) => `${JSON.stringify(usageDocument(record))}\n` },
} as const satisfies Record<string, ExportFormat>;
