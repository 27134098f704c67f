import { type Dashboard, quantiles, rate } from '../panel.js';

const calls = 'http_server_request_duration_seconds_count';

export const overview: Dashboard = {
  uid: 'model-router-overview',
  title: 'Model router: service',
  rows: [
    {
      title: 'Calls',
      panels: [
        {
          title: 'Calls by route',
          says: 'What callers ask for.',
          unit: 'reqps',
          queries: [rate(calls, ['method', 'route'])],
        },
        {
          title: 'Errors by bucket',
          says: 'internal_error and service_unavailable are ours, provider_… the partner’s, the rest the callers’.',
          unit: 'reqps',
          queries: [rate(calls, ['error_type'], '{error_type!=""}')],
        },
        {
          title: 'Share of calls that we failed',
          says: 'The objective is one in a thousand.',
          unit: 'percentunit',
          queries: [
            [
              `(sum(rate(${calls}{error_type=~"internal_error|service_unavailable"}[$__rate_interval])) or vector(0)) / sum(rate(${calls}[$__rate_interval]))`,
              'failed',
            ],
          ],
        },
        {
          title: 'Time of queued submits',
          says: 'Admission and delivery; no provider is waited for.',
          unit: 's',
          queries: quantiles(
            'http_server_request_duration_seconds',
            [],
            '{route=~".*/requests",method="POST"}',
          ),
        },
        {
          title: 'Time of status and collect',
          says: 'One read by primary key.',
          unit: 's',
          queries: quantiles(
            'http_server_request_duration_seconds',
            [],
            '{route=~".*/requests/.*",method="GET"}',
          ),
        },
        {
          title: 'Held calls',
          says: 'Synchronous calls whose connection is held, by gateway.',
          unit: 'short',
          queries: [['sum by (instance) (router_held_calls)', '{{instance}}']],
        },
      ],
    },
    {
      title: 'Runs',
      panels: [
        {
          title: 'Runs finished',
          says: 'By delivery and outcome.',
          unit: 'ops',
          queries: [rate('router_runs_total', ['delivery', 'outcome'])],
        },
        {
          title: 'Where a run spends its time',
          says: 'queue is the wait for a slot of the workspace, dispatch the wait for a worker, provider the partner’s own time.',
          unit: 's',
          queries: quantiles('router_run_duration_seconds', ['phase']),
        },
        {
          title: 'Refused at admission',
          says: 'By the limit that refused: the callers’ allowances, not our capacity.',
          unit: 'ops',
          queries: [rate('router_admission_rejections_total', ['reason'])],
        },
      ],
    },
  ],
};
