import type { Alert } from './alert.js';

const calls = 'router_http_server_request_duration_seconds';
/** Status polls are left out: there are so many that they would hide failures. */
const served = 'route!~".*/status(/stream)?"';
/** Calls that do not wait for a provider. */
const quick = 'route=~".*/requests(/.*)?",route!~".*/stream"';

/** The objectives over 30 days, and the share of calls that may miss each. */
export const objectives = {
  availability: {
    missed: 0.001,
    failed: `${calls}_count{${served},error_type=~"internal_error|service_unavailable"}`,
    all: `${calls}_count{${served}}`,
  },
  latency: { missed: 0.01, inTime: `${calls}_bucket{${quick},le="0.3"}`, all: `${calls}_count{${quick}}` },
} as const;

/** True while errors use up the budget of one call in a thousand more than `times` too fast. */
const burn = (window: string, times: number) => {
  const { failed, all, missed } = objectives.availability;
  return `sum by (error_type) (rate(${failed}[${window}])) / ignoring (error_type) group_left sum(rate(${all}[${window}])) > ${times} * ${missed}`;
};

/** The same for the latency budget: one quick call in a hundred may be slow. */
const slow = (window: string, times: number) => {
  const { inTime, all, missed } = objectives.latency;
  return `1 - sum(rate(${inTime}[${window}])) / sum(rate(${all}[${window}])) > ${times} * ${missed}`;
};

/**
 * Recorded once a minute, because windows of 30 days over the histograms themselves would be read at each refresh of a
 * dashboard. Failed calls count as 0 while none has failed.
 */
export const objectiveRecordings = {
  'router:calls:rate5m': `sum(rate(${objectives.availability.all}[5m]))`,
  'router:calls_failed:rate5m': `sum(rate(${objectives.availability.failed}[5m])) or 0 * sum(rate(${objectives.availability.all}[5m]))`,
  'router:quick_calls:rate5m': `sum(rate(${objectives.latency.all}[5m]))`,
  'router:quick_calls_in_time:rate5m': `sum(rate(${objectives.latency.inTime}[5m]))`,
} as const;

/** Alerts on the error budgets of the objectives. */
export const budgetAlerts: readonly Alert[] = [
  {
    name: 'RouterErrorBudgetBurnsFast',
    expression: `${burn('5m', 14.4)} and ${burn('1h', 14.4)}`,
    holds: '2m',
    severity: 'page',
    dashboard: 'objectives',
    summary: '{{ $value | humanizePercentage }} of all calls fail with {{ $labels.error_type }}.',
  },
  {
    name: 'RouterErrorBudgetBurnsSlowly',
    expression: `${burn('30m', 3)} and ${burn('6h', 3)}`,
    holds: '15m',
    severity: 'ticket',
    dashboard: 'objectives',
    summary:
      '{{ $value | humanizePercentage }} of all calls have failed with {{ $labels.error_type }} for hours.',
  },
  {
    name: 'RouterLatencyBudgetBurnsFast',
    expression: `${slow('5m', 14.4)} and ${slow('1h', 14.4)}`,
    holds: '2m',
    severity: 'page',
    dashboard: 'objectives',
    summary:
      '{{ $value | humanizePercentage }} of the calls that do not wait for a provider take longer than 0.3 s.',
  },
  {
    name: 'RouterLatencyBudgetBurnsSlowly',
    expression: `${slow('30m', 3)} and ${slow('6h', 3)}`,
    holds: '15m',
    severity: 'ticket',
    dashboard: 'objectives',
    summary:
      '{{ $value | humanizePercentage }} of the calls that do not wait for a provider have been slow for hours.',
  },
];
