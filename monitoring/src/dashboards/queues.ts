import { type Dashboard, type Panel, quantiles, rate } from '../panel.js';

/** Most providers have no calls, so only those that used a slot in the time range are shown. */
const slots = (queue: string, title: string, says: string): Panel => ({
  title,
  says: `${says} Providers that used a slot in this time range.`,
  unit: 'short',
  queries: [
    [
      `sum by (provider, state) (router_worker_slots{queue="${queue}"}) and on (provider) sum by (provider) (max_over_time(router_worker_slots{queue="${queue}",state="busy"}[$__range])) > 0`,
      '{{provider}} {{state}}',
    ],
  ],
});

export const queues: Dashboard = {
  uid: 'model-router-queues',
  title: 'Model router: queues and workers',
  rows: [
    {
      title: 'Waiting',
      panels: [
        {
          title: 'Live runs by state',
          says: 'From the database. parked: waiting for a slot of the workspace. waiting: waiting for a worker.',
          unit: 'short',
          queries: [['sum by (state) (max by (provider, state) (router_inflight_runs))', '{{state}}']],
        },
        {
          title: 'Oldest waiting run',
          says: 'Time since the run got its slot. If dispatch grows, add workers. For parked runs, the time since admission: they wait for their own workspace.',
          unit: 's',
          queries: [['max by (queue) (router_queue_oldest_job_age_seconds)', '{{queue}}']],
        },
        {
          title: 'Jobs by queue',
          says: 'From the transport. delayed jobs are mostly polls that are not due yet.',
          unit: 'short',
          queries: [['max by (queue, state) (router_queue_jobs)', '{{queue}} {{state}}']],
        },
        {
          title: 'Queue latency',
          says: 'Time between a job becoming due and a worker taking it.',
          unit: 's',
          queries: quantiles('router_queue_wait_seconds', ['queue']),
        },
        {
          title: 'Poll lateness',
          says: 'How long after its due time a poll starts.',
          unit: 's',
          queries: quantiles('router_provider_poll_lateness_seconds'),
        },
        {
          title: 'Jobs taken',
          says: 'By queue. If jobs wait and none is taken, there is an outage.',
          unit: 'ops',
          queries: [rate('router_queue_wait_seconds_count', ['queue'])],
        },
      ],
    },
    {
      title: 'Workers',
      panels: [
        {
          title: 'Workers',
          says: 'now: processes that report. wanted and maximum: from the autoscaler, with KEDA. If wanted stays at the maximum, runs wait for workers.',
          unit: 'short',
          queries: [
            ['count(router_build_info{app="worker"})', 'now'],
            ['max(router:workers_wanted)', 'wanted'],
            ['max(router:workers_maximum)', 'maximum'],
          ],
        },
        slots('dispatch', 'Submission slots', 'If busy reaches total, runs of the provider wait.'),
        slots('poll', 'Poll slots', 'If busy reaches total, polls of the provider start late.'),
        slots('assets', 'Asset slots', 'If busy reaches total, copies of assets wait.'),
      ],
    },
    {
      title: 'Recovery',
      panels: [
        {
          title: 'Oldest overdue outbox row',
          says: 'At most a few seconds; more while Redis is down.',
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
          says: 'Calls by result. Everything but delivered is a problem of the receiver and is retried.',
          unit: 'ops',
          queries: [rate('router_webhook_request_duration_seconds_count', ['result'])],
        },
        {
          title: 'Stalled jobs and lost locks',
          says: 'stalled: a worker died or froze. locks lost: a worker lost its connection to the transport.',
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
