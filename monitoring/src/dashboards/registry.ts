import { type Dashboard, quantiles, rate } from '../panel.js';

const nodes = '{route="/nodes"}';

export const registry: Dashboard = {
  uid: 'model-router-registry',
  title: 'Model router: node registry',
  rows: [
    {
      title: 'GET /nodes',
      panels: [
        {
          title: 'Calls by status',
          says: 'By status class.',
          unit: 'reqps',
          queries: [rate('router_http_server_request_duration_seconds_count', ['status_class'], nodes)],
        },
        {
          title: 'Latency',
          says: 'The target is 50 ms at p99.',
          unit: 's',
          queries: quantiles('router_http_server_request_duration_seconds', [], nodes),
        },
        {
          title: 'Error rate',
          says: 'Server errors only.',
          unit: 'percentunit',
          queries: [
            [
              '(sum(rate(router_http_server_request_duration_seconds_count{route="/nodes",status_class="5xx"}[$__rate_interval])) or vector(0)) / sum(rate(router_http_server_request_duration_seconds_count{route="/nodes"}[$__rate_interval]))',
              'failed',
            ],
          ],
        },
      ],
    },
  ],
};
