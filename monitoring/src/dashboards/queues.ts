import { type Dashboard, quantiles, rate } from '../panel.js';

export const queues: Dashboard = {
  uid: 'model-router-queues',
  title: 'Model router: queues and workers',
  rows: [
    {
      title: 'Waiting',
      panels: [
        {
          title: 'Live runs by state',
          says: 'As the database has them. parked waits for its own workspace, waiting for a worker.',
          unit: 'short',
          queries: [['sum by (state) (max by (provider, state) (router_inflight_runs))', '{{state}}']],
        },
        {
          title: 'Oldest run that waits',
          says: 'Since its admission. A dispatch lane that grows needs workers; parked runs need nothing from us.',
          unit: 's',
          queries: [['max by (queue) (router_queue_oldest_job_age_seconds)', '{{queue}}']],
        },
        {
          title: 'Jobs in the lanes',
          says: 'As the transport has them. delayed are polls that are not due.',
          unit: 'short',
          queries: [['max by (queue, state) (router_queue_jobs)', '{{queue}} {{state}}']],
        },
        {
          title: 'Wait for a worker',
          says: 'From due to taken.',
          unit: 's',
          queries: quantiles('router_queue_wait_seconds', ['queue']),
        },
        {
          title: 'Lateness of polls',
          says: 'How much later than asked for a poll began.',
          unit: 's',
          queries: quantiles('router_provider_poll_lateness_seconds'),
        },
        {
          title: 'Jobs taken',
          says: 'By lane. Nothing taken while jobs wait is an outage.',
          unit: 'ops',
          queries: [rate('router_queue_wait_seconds_count', ['queue'])],
        },
      ],
    },
    {
      title: 'Healing',
      panels: [
        {
          title: 'Longest overdue delivery',
          says: 'Seconds at most; longer while Redis is away.',
          unit: 's',
          queries: [['max(router_outbox_oldest_age_seconds)', 'oldest']],
        },
        {
          title: 'Deliveries repeated by the sweep',
          says: 'A steady rate means that the transport loses jobs.',
          unit: 'ops',
          queries: [rate('router_reconciler_requeued_total', ['lane'])],
        },
        {
          title: 'Jobs taken over, locks lost',
          says: 'Workers that died or froze, and those that lost the transport.',
          unit: 'ops',
          queries: [
            ['sum(rate(router_stalled_jobs_total[$__rate_interval]))', 'taken over'],
            ['sum(rate(router_lock_lost_total[$__rate_interval]))', 'locks lost'],
          ],
        },
      ],
    },
  ],
};
