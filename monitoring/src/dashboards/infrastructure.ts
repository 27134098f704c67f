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
          says: 'Two at once is a rollout.',
          unit: 'short',
          queries: [['count by (app, version) (router_build_info)', '{{app}} {{version}}']],
        },
        {
          title: 'Event loop, slow end',
          says: 'Half a second means that calls queue inside the process.',
          unit: 's',
          queries: [['max by (app, instance) (nodejs_eventloop_lag_p99_seconds)', '{{app}} {{instance}}']],
        },
        {
          title: 'CPU',
          says: 'Cores; one process uses little more than one.',
          unit: 'short',
          queries: [
            [
              'sum by (app, instance) (rate(process_cpu_seconds_total[$__rate_interval]))',
              '{{app}} {{instance}}',
            ],
          ],
        },
        {
          title: 'Memory',
          says: 'Resident.',
          unit: 'bytes',
          queries: [['max by (app, instance) (process_resident_memory_bytes)', '{{app}} {{instance}}']],
        },
        {
          title: 'Database connections',
          says: 'waiting above 0 for long: the pool or the database is too small.',
          unit: 'short',
          queries: [
            ['sum by (app, pool, state) (router_database_connections)', '{{app}} {{pool}} {{state}}'],
          ],
        },
        {
          title: 'Admission in the database',
          says: 'The call that admits a run, with its wait for a batch.',
          unit: 's',
          queries: quantiles('router_admission_duration_seconds'),
        },
      ],
    },
  ],
};
