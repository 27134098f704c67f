import { type Dashboard, rate } from '../panel.js';

export const money: Dashboard = {
  uid: 'model-router-money',
  title: 'Model router: money',
  rows: [
    {
      title: 'Money',
      panels: [
        {
          title: 'Committed and held now',
          says: 'Reserved for runs with a slot; credits held for all live runs.',
          unit: 'currencyUSD',
          queries: [
            ['max(router_committed_dollars)', 'committed'],
            ['max(router_held_dollars)', 'held'],
          ],
        },
        {
          title: 'Billed an hour',
          says: 'By provider. The ledger is the truth: admin usage.',
          unit: 'currencyUSD',
          queries: [
            [
              'sum by (provider) (rate(router_billed_dollars_total[$__rate_interval])) * 3600',
              '{{provider}}',
            ],
          ],
        },
        {
          title: 'Refused for money',
          says: 'credits: the balance is used up. spend and ceiling: the committed-spend limit.',
          unit: 'ops',
          queries: [
            rate('router_admission_rejections_total', ['reason'], '{reason=~"credits|spend|ceiling"}'),
          ],
        },
        {
          title: 'Failed runs, not billed',
          says: 'A rise of provider_… buckets is work that nobody pays for.',
          unit: 'ops',
          queries: [rate('router_runs_total', ['provider', 'error_type'], '{outcome="failed"}')],
        },
        {
          title: 'Counters that differ',
          says: 'Allowances that do not match the runs they count. Stays 0.',
          unit: 'short',
          queries: [['sum(increase(router_admission_drift_total[$__rate_interval]))', 'differing']],
        },
        {
          title: 'Submissions with unknown fate',
          says: 'Perhaps bought and not billed: ask the provider.',
          unit: 'short',
          queries: [
            ['sum by (provider) (increase(router_dispatch_unknown_total[$__rate_interval]))', '{{provider}}'],
          ],
        },
      ],
    },
  ],
};
