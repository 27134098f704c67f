import { type Dashboard, quantiles } from '../panel.js';

export const infrastructure: Dashboard = {
  uid: 'model-router-infrastructure',
  title: 'Model router: processes',
  rows: [
    {
      title: 'Processes',
      panels: [
        {
          title: 'Versions',
          says: 'Two versions at a time: a rollout is in progress.',
          unit: 'short',
          queries: [
            ['count by (app, version, revision) (router_build_info)', '{{app}} {{version}} {{revision}}'],
          ],
        },
        {
          title: 'Ready processes',
          says: 'The probe that Kubernetes asks. At 0, nobody serves callers or takes runs.',
          unit: 'short',
          queries: [['sum by (app) (router_ready)', '{{app}}']],
        },
        {
          title: 'Restarts',
          says: 'New starts of the same process within half an hour. A rollout on the same machine is one.',
          unit: 'short',
          queries: [
            [
              'max by (app, instance) (changes(router_process_start_time_seconds[30m]))',
              '{{app}} {{instance}}',
            ],
          ],
        },
        {
          title: 'Event loop lag, p99',
          says: 'At half a second, calls queue up inside the process.',
          unit: 's',
          queries: [
            ['max by (app, instance) (router_nodejs_eventloop_lag_p99_seconds)', '{{app}} {{instance}}'],
          ],
        },
        {
          title: 'CPU',
          says: 'In cores. A process can use little more than one.',
          unit: 'short',
          queries: [
            [
              'sum by (app, instance) (rate(router_process_cpu_seconds_total[$__rate_interval]))',
              '{{app}} {{instance}}',
            ],
          ],
        },
        {
          title: 'Memory',
          says: 'Resident set size.',
          unit: 'bytes',
          queries: [
            ['max by (app, instance) (router_process_resident_memory_bytes)', '{{app}} {{instance}}'],
          ],
        },
        {
          title: 'Database connections',
          says: 'If waiting stays above 0, the pool is too small or the database too slow.',
          unit: 'short',
          queries: [
            ['sum by (app, pool, state) (router_database_connections)', '{{app}} {{pool}} {{state}}'],
          ],
        },
        {
          title: 'Oldest transaction',
          says: 'Postgres cannot remove rows that died after it began. Growth of tables and slow queries follow.',
          unit: 's',
          queries: [['max(router_database_oldest_transaction_seconds)', 'oldest']],
        },
        {
          title: 'Admission latency',
          says: 'The database call that admits a run, including its wait for a batch.',
          unit: 's',
          queries: quantiles('router_admission_duration_seconds'),
        },
      ],
    },
  ],
};
