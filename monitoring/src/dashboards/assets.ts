import { type Dashboard, quantiles, rate } from '../panel.js';

const store = 'router_store_request_duration_seconds';

export const assets: Dashboard = {
  uid: 'model-router-assets',
  title: 'Model router: assets and storage',
  rows: [
    {
      title: 'Copied assets',
      panels: [
        {
          title: 'Copies by outcome',
          says: 'An asset that is not copied keeps the provider’s URL; the run still succeeds.',
          unit: 'ops',
          queries: [rate('router_asset_copy_total', ['outcome'])],
        },
        {
          title: 'Bytes copied',
          says: 'Per second.',
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
      title: 'Asset store',
      panels: [
        {
          title: 'Store calls',
          says: 'unavailable: the store failed. cut_short: we gave up, or the body ended early.',
          unit: 'ops',
          queries: [rate(`${store}_count`, ['op', 'result'])],
        },
        {
          title: 'Store latency',
          says: 'A put takes as long as the provider sends the body.',
          unit: 's',
          queries: quantiles(store, ['op']),
        },
        {
          title: 'Orphaned objects',
          says: 'in_doubt: a run may still need them. left_behind: due for deletion; if the number stays high, deletions fail.',
          unit: 'short',
          queries: [['max by (state) (router_stored_objects)', '{{state}}']],
        },
      ],
    },
  ],
};
