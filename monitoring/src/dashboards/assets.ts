import { type Dashboard, quantiles, rate } from '../panel.js';

const store = 'router_store_request_duration_seconds';

export const assets: Dashboard = {
  uid: 'model-router-assets',
  title: 'Model router: assets and the store',
  rows: [
    {
      title: 'Copies of results',
      panels: [
        {
          title: 'Copies by outcome',
          says: 'What is not copied keeps the provider’s URL; the run succeeds all the same.',
          unit: 'ops',
          queries: [rate('router_asset_copy_total', ['outcome'])],
        },
        {
          title: 'Bytes copied',
          says: 'A second.',
          unit: 'bytes',
          queries: [['sum(rate(router_asset_copy_bytes_total[$__rate_interval]))', 'copied']],
        },
        {
          title: 'Time that copying adds to a run',
          says: 'The caller waits for it.',
          unit: 's',
          queries: quantiles('router_run_duration_seconds', [], '{phase="assets"}'),
        },
      ],
    },
    {
      title: 'The store',
      panels: [
        {
          title: 'Calls of the store',
          says: 'unavailable is the store’s fault; cut_short was given up by us, or its body broke off.',
          unit: 'ops',
          queries: [rate(`${store}_count`, ['op', 'result'])],
        },
        {
          title: 'Time of its calls',
          says: 'A put lasts as long as its body arrives from the provider.',
          unit: 's',
          queries: quantiles(store, ['op']),
        },
        {
          title: 'Objects that no run needs',
          says: 'in_doubt: a run may still come to need them. left_behind are deleted within minutes; many for long means that deletions fail.',
          unit: 'short',
          queries: [['max by (state) (router_stored_objects)', '{{state}}']],
        },
      ],
    },
  ],
};
