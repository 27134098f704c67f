import { objectives } from '../objectives.js';
import { type Dashboard, quantiles, rate } from '../panel.js';

const calls = 'router_http_server_request_duration_seconds_count';

export const overview: Dashboard = {
  uid: 'model-router-overview',
  title: 'Model router: service',
  rows: [
    {
      title: 'Calls',
      panels: [
        {
          title: 'Calls by route',
          says: 'By method and route.',
          unit: 'reqps',
          queries: [rate(calls, ['method', 'route'])],
        },
        {
          title: 'Errors by bucket',
          says: 'internal_error and service_unavailable are our failures, provider_… are the provider’s, and the rest are the caller’s.',
          unit: 'reqps',
          queries: [rate(calls, ['error_type'], '{error_type!=""}')],
        },
        {
          title: 'Error rate',
          says: 'Only our own failures, without status polls. The objective is at most one in a thousand.',
          unit: 'percentunit',
          queries: [
            [
              `(sum(rate(${objectives.availability.failed}[$__rate_interval])) or vector(0)) / sum(rate(${objectives.availability.all}[$__rate_interval]))`,
              'failed',
            ],
          ],
        },
        {
          title: 'Latency of queued submissions',
          says: 'Admission and enqueueing. No provider is involved.',
          unit: 's',
          queries: quantiles(
            'router_http_server_request_duration_seconds',
            [],
            '{route=~".*/requests",method="POST"}',
          ),
        },
        {
          title: 'Latency of status and collect',
          says: 'Each call is one read by primary key.',
          unit: 's',
          queries: quantiles(
            'router_http_server_request_duration_seconds',
            [],
            '{route=~".*/requests/.*",method="GET"}',
          ),
        },
        {
          title: 'Held calls',
          says: 'Open synchronous calls, by gateway.',
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
          says: 'By delivery mode and outcome.',
          unit: 'ops',
          queries: [rate('router_runs_total', ['delivery', 'outcome'])],
        },
        {
          title: 'Run phases',
          says: 'queue: waiting for a slot of the workspace. dispatch: waiting for a worker. provider: at the provider. assets: copying assets.',
          unit: 's',
          queries: quantiles('router_run_duration_seconds', ['phase']),
        },
        {
          title: 'Rejected at admission',
          says: 'By limit of a workspace, or of what one workspace may hold of a gateway (large_bodies, held_calls), not of our capacity. The log has the workspace.',
          unit: 'ops',
          queries: [rate('router_admission_rejections_total', ['reason'])],
        },
      ],
    },
  ],
};
