import { ofAutoscaler, workerAutoscaler } from './autoscalers.js';
import { objectiveRecordings } from './objectives.js';

/** The numbers of the workers' autoscaler under our own names, because panels show no metrics of others. */
const workers = {
  'router:workers_wanted': `max(kube_horizontalpodautoscaler_status_desired_replicas${ofAutoscaler(workerAutoscaler)})`,
  'router:workers_maximum': `max(kube_horizontalpodautoscaler_spec_max_replicas${ofAutoscaler(workerAutoscaler)})`,
} as const;

/** Evaluated once a minute. */
export const recordings = { ...objectiveRecordings, ...workers } as const;
export type Recordings = typeof recordings;
