import { type Dashboard, rate } from '../panel.js';

export const money: Dashboard = {
  uid: 'model-router-money',
  title: 'Model router: spend',
  rows: [
    {
      title: 'Spend',
      panels: [
        {
          title: 'Committed and held',
          says: 'committed: reserved for live runs that have a slot. held: credits reserved for all live runs.',
          unit: 'currencyUSD',
          queries: [
            ['max(router_committed_dollars)', 'committed'],
            ['max(router_held_dollars)', 'held'],
          ],
        },
        {
          title: 'Billed per hour',
          says: 'By provider. The ledger is authoritative; `admin usage` reads it.',
          unit: 'currencyUSD',
          queries: [
            [
              'sum by (provider) (rate(router_billed_dollars_total[$__rate_interval])) * 3600',
              '{{provider}}',
            ],
          ],
        },
        {
          title: 'Rejected for spend or credits',
          says: 'credits: the balance is used up. spend and ceiling: the limit of committed spend is reached.',
          unit: 'ops',
          queries: [
            rate('router_admission_rejections_total', ['reason'], '{reason=~"credits|spend|ceiling"}'),
          ],
        },
        {
          title: 'Failed runs, not billed',
          says: 'A rise of the provider_… buckets means work that is not billed to callers.',
          unit: 'ops',
          queries: [rate('router_runs_total', ['provider', 'error_type'], '{outcome="failed"}')],
        },
        {
          title: 'Counter drift',
          says: 'Workspace counters that differ from the runs they count. Must stay 0.',
          unit: 'short',
          queries: [['sum(increase(router_admission_drift_total[$__rate_interval]))', 'differing']],
        },
        {
          title: 'Submissions with unknown outcome',
          says: 'The provider may have charged for these. Check with the provider.',
          unit: 'short',
          queries: [
            ['sum by (provider) (increase(router_dispatch_unknown_total[$__rate_interval]))', '{{provider}}'],
          ],
        },
      ],
    },
  ],
};
