import { type Dashboard, quantiles, rate } from '../panel.js';

const chosen = '{provider=~"$provider"}';

export const providers: Dashboard = {
  uid: 'model-router-providers',
  title: 'Model router: providers',
  repeatedByProvider: true,
  rows: [
    {
      title: '$provider',
      panels: [
        {
          title: 'Runs by outcome',
          says: 'Failed runs also by bucket.',
          unit: 'ops',
          queries: [rate('router_runs_total', ['outcome', 'error_type'], chosen)],
        },
        {
          title: 'Time of finished runs',
          says: 'By phase. provider: from the submission to the output. The others are our own.',
          unit: 's',
          queries: quantiles('router_run_duration_seconds', ['phase'], chosen),
        },
        {
          title: 'Call latency',
          says: 'Duration of an HTTP call, by operation.',
          unit: 's',
          queries: quantiles('router_provider_request_duration_seconds', ['op'], chosen),
        },
        {
          title: 'Calls by result',
          says: 'By status class, or by how the connection failed.',
          unit: 'reqps',
          queries: [rate('router_provider_request_duration_seconds_count', ['op', 'result'], chosen)],
        },
        {
          title: 'Live runs',
          says: 'Runs at this provider now.',
          unit: 'short',
          queries: [[`max by (state) (router_inflight_runs${chosen})`, '{{state}}']],
        },
        {
          title: 'Slots',
          says: 'Of all workers, by queue. If busy reaches total, runs of this provider wait.',
          unit: 'short',
          queries: [[`sum by (queue, state) (router_worker_slots${chosen})`, '{{queue}} {{state}}']],
        },
        {
          title: 'Poll lateness',
          says: 'How late polls start. This is our delay, not the provider’s.',
          unit: 's',
          queries: quantiles('router_provider_poll_lateness_seconds', [], chosen),
        },
        {
          title: 'Problems',
          says: 'account: the provider rejected our key or balance. unknown: submissions with unknown outcome. throttled: replies with a Retry-After.',
          unit: 'short',
          queries: [
            [`sum(increase(router_provider_account_errors_total${chosen}[$__rate_interval]))`, 'account'],
            [`sum(increase(router_dispatch_unknown_total${chosen}[$__rate_interval]))`, 'unknown'],
            [
              `sum by (calls) (increase(router_provider_asks_to_wait_total${chosen}[$__rate_interval]))`,
              'throttled: {{calls}}',
            ],
          ],
        },
        {
          title: 'Calls by key',
          says: 'Of providers that have several keys, or limits on one: by the name of the key, operation and result.',
          unit: 'short',
          queries: [
            [
              `sum by (key, op, result) (increase(router_provider_key_calls_total${chosen}[$__rate_interval]))`,
              '{{key}} {{op}} {{result}}',
            ],
          ],
        },
        {
          title: 'Unexpected replies',
          says: 'By kind. The provider’s page in the console shows the newest one of each.',
          unit: 'short',
          queries: [
            [
              `sum by (kind) (increase(router_provider_surprises_total${chosen}[$__rate_interval]))`,
              '{{kind}}',
            ],
          ],
        },
      ],
    },
  ],
};
