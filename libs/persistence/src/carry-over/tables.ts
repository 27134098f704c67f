/** Tables that are carried over into a new database, in an order in which each row comes after the rows it refers to. */
export const carriedTables = [
  'workspace',
  'api_key',
  'ledger_entry',
  'audit_record',
  'operator_action',
  'provider_pause',
  'publisher',
  'publisher_member',
  'node',
  'node_version',
  'registry_mirror',
] as const;

export type CarriedTable = (typeof carriedTables)[number];

/** Tables that the migrations and the apps fill again by themselves. Every other table is reported as left behind. */
export const refilledTables = ['migrations', 'typeorm_metadata', 'process', 'registry_revision'] as const;

/** Counters of live runs. Runs are not carried over, so these start at the defaults of their columns. */
export const liveCounters: Partial<Record<CarriedTable, readonly string[]>> = {
  workspace: [
    'inflight',
    'committed_micros',
    'held_micros',
    'backlog',
    'window_started_at',
    'window_count',
    'undispatched',
    'undispatched_counted_at',
  ],
};

/** Amounts whose sums must be the same before and after, and the column that names their workspace. */
export const amounts = [
  { table: 'workspace', column: 'balance_micros', workspace: 'id' },
  { table: 'ledger_entry', column: 'amount_micros', workspace: 'workspace_id' },
  { table: 'audit_record', column: 'cost_micros', workspace: 'workspace_id' },
  { table: 'audit_record', column: 'billed_micros', workspace: 'workspace_id' },
] as const satisfies readonly { table: CarriedTable; column: string; workspace: string }[];

interface FormerColumn {
  table: CarriedTable;
  /** The column of today. */
  column: string;
  /** The column of that version; it is exported under today's name. */
  from: string;
  /** Computes the value of today's column where it is not that of `from`. */
  as?: string;
}

/** How versions that lack a column of today said the same. */
export const formerColumns: readonly FormerColumn[] = [
  { table: 'publisher', column: 'moderated_status', from: 'ruled_status' },
  { table: 'node', column: 'moderated_status', from: 'ruled_status' },
  { table: 'node', column: 'moderated_detail', from: 'ruled_detail' },
  { table: 'node', column: 'moderated_tags', from: 'ruled_tags' },
  // A model had one provider, which its id begins with.
  { table: 'audit_record', column: 'provider', from: 'model', as: `split_part(model, '/', 1)` },
  // A pause was an operator's, stopped submissions, and had no end.
  { table: 'provider_pause', column: 'calls', from: 'paused_at', as: `'submit'` },
  { table: 'provider_pause', column: 'asked_by', from: 'paused_at', as: `'operator'` },
  { table: 'provider_pause', column: 'until', from: 'paused_at', as: `'infinity'` },
  { table: 'provider_pause', column: 'since', from: 'paused_at' },
];
