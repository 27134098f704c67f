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
          says: 'And by bucket when they failed.',
          unit: 'ops',
          queries: [rate('router_runs_total', ['outcome', 'error_type'], chosen)],
        },
        {
          title: 'Time of its replies',
          says: 'Of one HTTP call, by what was asked.',
          unit: 's',
          queries: quantiles('router_provider_request_duration_seconds', ['op'], chosen),
        },
        {
          title: 'Calls by result',
          says: 'The status class, or what happened to the connection.',
          unit: 'reqps',
          queries: [rate('router_provider_request_duration_seconds_count', ['op', 'result'], chosen)],
        },
        {
          title: 'Live runs',
          says: 'What we have with it now.',
          unit: 'short',
          queries: [[`max by (state) (router_inflight_runs${chosen})`, '{{state}}']],
        },
        {
          title: 'Lateness of polls',
          says: 'Ours, not the provider’s.',
          unit: 's',
          queries: quantiles('router_provider_poll_lateness_seconds', [], chosen),
        },
        {
          title: 'Trouble',
          says: 'Key or balance refused there; submissions whose fate is unknown; asks to be left alone.',
          unit: 'short',
          queries: [
            [`sum(increase(router_provider_account_errors_total${chosen}[$__rate_interval]))`, 'account'],
            [`sum(increase(router_dispatch_unknown_total${chosen}[$__rate_interval]))`, 'unknown'],
            [
              `sum by (calls) (increase(router_provider_asks_to_wait_total${chosen}[$__rate_interval]))`,
              'asks to wait: {{calls}}',
            ],
          ],
        },
      ],
    },
  ],
};
