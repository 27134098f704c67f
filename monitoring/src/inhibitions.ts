import { environment } from './scope.js';

/** While the alert `while` fires, Alertmanager sends no notification of the others in the same environment. */
interface Inhibition {
  while: string;
  silent: readonly string[];
  /** Further labels that both must share. */
  sharing?: readonly string[];
}

/** These alerts follow when no process takes calls or runs, usually because the database is unreachable. */
const followsFromNoneReady = [
  'RouterFewerReady',
  'RouterErrorBudgetBurnsFast',
  'RouterErrorBudgetBurnsSlowly',
  'RouterLatencyBudgetBurnsFast',
  'RouterLatencyBudgetBurnsSlowly',
  'RouterRunsWaitForWorkers',
  'RouterQueueStalled',
  'RouterOutboxOverdue',
  'RouterWebhooksOverdue',
  'RouterAssetCopiesFail',
  'RouterPollsLate',
  'RouterReconcilerRequeues',
  'RouterWorkersDie',
  'RouterAdmissionSlow',
  'RouterDatabasePoolExhausted',
  'RouterRetentionFails',
];

export const inhibitions: readonly Inhibition[] = [
  // Both at once have one cause, whose runbook begins with the database.
  { while: 'RouterNoGatewayReady', silent: ['RouterNoWorkerReady', ...followsFromNoneReady] },
  { while: 'RouterNoWorkerReady', silent: followsFromNoneReady },
  { while: 'RouterStoreDown', silent: ['RouterStoreFails', 'RouterInputsUnread', 'RouterAssetCopiesFail'] },
  {
    while: 'RouterProcessKeepsRestarting',
    silent: ['RouterProcessRestarts'],
    sharing: ['app', 'instance'],
  },
];

/** The part of Alertmanager's configuration. */
export const inhibitRules = inhibitions.map(({ while: source, silent, sharing = [] }) => ({
  source_matchers: [`alertname = "${source}"`],
  target_matchers: [`alertname =~ "${silent.join('|')}"`],
  equal: [...environment, ...sharing],
}));
