import { workerAutoscaler } from './autoscalers.js';
import { objectiveRecordings } from './objectives.js';

/** The numbers of KEDA's autoscaler under our own names, because panels show no metrics of others. */
const workers = {
  'router:workers_wanted': `max(kube_horizontalpodautoscaler_status_desired_replicas{horizontalpodautoscaler="${workerAutoscaler}"})`,
  'router:workers_maximum': `max(kube_horizontalpodautoscaler_spec_max_replicas{horizontalpodautoscaler="${workerAutoscaler}"})`,
} as const;

/** Evaluated once a minute. */
export const recordings = { ...objectiveRecordings, ...workers } as const;
export type Recordings = typeof recordings;
