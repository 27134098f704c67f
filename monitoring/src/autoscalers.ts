/** Patterns of names. KEDA puts `keda-hpa-` before the name of its ScaledObject. */
export const workerAutoscaler = '(keda-hpa-)?worker';
export const gatewayAutoscaler = 'gateway';

/** Selects the series of an autoscaler. */
export const ofAutoscaler = (autoscaler: string) => `{horizontalpodautoscaler=~"${autoscaler}"}`;

/** True while a Kubernetes autoscaler cannot add pods. */
export const atMaximum = (autoscaler: string) =>
  `kube_horizontalpodautoscaler_status_current_replicas${ofAutoscaler(autoscaler)} >= kube_horizontalpodautoscaler_spec_max_replicas`;
