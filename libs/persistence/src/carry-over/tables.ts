/** Tables that are carried over to a new database. Each comes after the tables it references. */
export const carriedTables = [
  'workspace',
  'own_key',
  'api_key',
  'budget',
  'budget_window',
  'ledger_entry',
  'audit_record',
  'run_attribution',
  'operator_action',
  'provider_pause',
  'publisher',
  'publisher_member',
  'node',
  'node_version',
  'registry_mirror',
] as const;

export type CarriedTable = (typeof carriedTables)[number];

/** Tables that the migrations and the apps fill themselves. Every other table is reported as left behind. */
export const refilledTables = [
  'migrations',
  'typeorm_metadata',
  'process',
  'provider_health',
  'provider_check',
  'provider_key',
  'provider_overshoot',
  'provider_surprise',
  'stream_piece',
  'registry_revision',
  'usage_sum',
  'usage_dimension_sum',
  'usage_progress',
  'measured_runs',
  'workspace_erasure',
  'refused_call',
] as const;

/** Counters of live runs. Runs are not carried over, so these columns start at their defaults. */
export const liveCounters: Partial<Record<CarriedTable, readonly string[]>> = {
  workspace: [
    'inflight',
    'committed_micros',
    'held_micros',
    'excess_micros',
    'backlog',
    'window_started_at',
    'window_count',
    'undispatched',
    'undispatched_counted_at',
  ],
  budget_window: ['reserved_micros'],
};

/** Amounts whose sums must not change, and the column with their workspace. */
export const amounts = [
  { table: 'workspace', column: 'balance_micros', workspace: 'id' },
  { table: 'ledger_entry', column: 'amount_micros', workspace: 'workspace_id' },
  { table: 'audit_record', column: 'cost_micros', workspace: 'workspace_id' },
  { table: 'audit_record', column: 'billed_micros', workspace: 'workspace_id' },
] as const satisfies readonly { table: CarriedTable; column: string; workspace: string }[];

interface FormerColumn {
  table: CarriedTable;
  /** The current column. */
  column: string;
  /** The column of the earlier version, which is exported under the current name. */
  from: string;
  /** The SQL expression of the value, if it differs from that of `from`. */
  as?: string;
}

/** The columns in which earlier versions stored the values of current columns. */
export const formerColumns: readonly FormerColumn[] = [
  { table: 'publisher', column: 'moderated_status', from: 'ruled_status' },
  { table: 'node', column: 'moderated_status', from: 'ruled_status' },
  { table: 'node', column: 'moderated_detail', from: 'ruled_detail' },
  { table: 'node', column: 'moderated_tags', from: 'ruled_tags' },
  // Every run reserved its bound.
  { table: 'workspace', column: 'reservation', from: 'committed_limit_micros', as: `'bound'` },
  // Each model had one provider, the first segment of its id.
  { table: 'audit_record', column: 'provider', from: 'model', as: `split_part(model, '/', 1)` },
  // Every pause was made by an operator, stopped submissions and had no end.
  { table: 'provider_pause', column: 'calls', from: 'paused_at', as: `'submit'` },
  { table: 'provider_pause', column: 'asked_by', from: 'paused_at', as: `'operator'` },
  { table: 'provider_pause', column: 'until', from: 'paused_at', as: `'infinity'` },
  { table: 'provider_pause', column: 'since', from: 'paused_at' },
];
