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
          says: 'As in the database. parked runs wait for their own workspace, waiting ones for a worker.',
          unit: 'short',
          queries: [['sum by (state) (max by (provider, state) (router_inflight_runs))', '{{state}}']],
        },
        {
          title: 'Oldest waiting run',
          says: 'Since it had its slot. If dispatch grows, add workers; parked runs, since their admission, wait for their own workspace.',
          unit: 's',
          queries: [['max by (queue) (router_queue_oldest_job_age_seconds)', '{{queue}}']],
        },
        {
          title: 'Jobs by queue',
          says: 'As in the transport. delayed jobs are mostly polls that are not due yet.',
          unit: 'short',
          queries: [['max by (queue, state) (router_queue_jobs)', '{{queue}} {{state}}']],
        },
        {
          title: 'Queue latency',
          says: 'From the time a job is due until a worker takes it.',
          unit: 's',
          queries: quantiles('router_queue_wait_seconds', ['queue']),
        },
        {
          title: 'Poll lateness',
          says: 'How long after its due time a poll begins.',
          unit: 's',
          queries: quantiles('router_provider_poll_lateness_seconds'),
        },
        {
          title: 'Jobs taken',
          says: 'By queue. None taken while jobs wait is an outage.',
          unit: 'ops',
          queries: [rate('router_queue_wait_seconds_count', ['queue'])],
        },
      ],
    },
    {
      title: 'Recovery',
      panels: [
        {
          title: 'Oldest overdue outbox row',
          says: 'A few seconds at most, more while Redis is away.',
          unit: 's',
          queries: [['max(router_outbox_oldest_age_seconds)', 'oldest']],
        },
        {
          title: 'Runs enqueued again by the reconciler',
          says: 'A steady rate means that jobs get lost.',
          unit: 'ops',
          queries: [rate('router_reconciler_requeued_total', ['queue'])],
        },
        {
          title: 'Webhooks',
          says: 'Calls by result. Anything but delivered is the receiver’s, and is tried again.',
          unit: 'ops',
          queries: [rate('router_webhook_request_duration_seconds_count', ['result'])],
        },
        {
          title: 'Stalled jobs and lost locks',
          says: 'Stalled: the worker died or froze. Lost: the worker lost its connection to the transport.',
          unit: 'ops',
          queries: [
            ['sum(rate(router_stalled_jobs_total[$__rate_interval]))', 'stalled'],
            ['sum(rate(router_lock_lost_total[$__rate_interval]))', 'locks lost'],
          ],
        },
      ],
    },
  ],
};
