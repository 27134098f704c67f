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
          says: 'A run succeeds even if an asset is not copied. Its result then contains the provider’s URL.',
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
          says: 'Callers wait this long in addition to the provider.',
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
          says: 'A put lasts until the provider has sent the whole body.',
          unit: 's',
          queries: quantiles(store, ['op']),
        },
        {
          title: 'Orphaned objects',
          says: 'in_doubt: a run may still need them. left_behind: due for deletion. If the number stays high, deletions fail.',
          unit: 'short',
          queries: [['max by (state) (router_stored_objects)', '{{state}}']],
        },
      ],
    },
  ],
};
