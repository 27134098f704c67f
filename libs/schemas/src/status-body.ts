import type { Bucket } from '#errors';
import type { RouterQueueStatus, RouterQueueStatusResponse, RouterQueueUrls } from './queue-shapes.js';

const statuses = {
  parked: 'IN_QUEUE',
  ready: 'IN_QUEUE',
  submitting: 'IN_PROGRESS',
  running: 'IN_PROGRESS',
  copying: 'IN_PROGRESS',
  completed: 'COMPLETED',
} as const satisfies Record<string, RouterQueueStatus>;

/** The stage of a run's row. */
export type Stage = keyof typeof statuses;

/** The public status of a stage. */
export const statusOf = (stage: Stage): RouterQueueStatus => statuses[stage];

export const stagesOf = (status: RouterQueueStatus): Stage[] =>
  (Object.keys(statuses) as Stage[]).filter((stage) => statuses[stage] === status);

/** The public state of a run. Six stages map to three statuses, and fields that do not apply are absent. */
export function statusBody(
  runId: string,
  { stage, position, bucket }: { stage: Stage; position: number | null; bucket: Bucket | null },
  urls: RouterQueueUrls,
): RouterQueueStatusResponse {
  const status = statusOf(stage);
  return {
    request_id: runId,
    status,
    ...(status === 'IN_QUEUE' && { queue_position: position ?? 0 }),
    ...(bucket !== null && { error_type: bucket }),
    ...urls,
  };
}

/** The URLs of a run. `origin` has no trailing slash. */
export function runUrls(
  origin: string,
  { modelId, runId }: { modelId: string; runId: string },
): RouterQueueUrls {
  const url = `${origin}/v2/models/${modelId}/requests/${runId}`;
  return { status_url: `${url}/status`, response_url: url, cancel_url: `${url}/cancel` };
}
