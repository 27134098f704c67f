import type { RouterQueueUrls } from '#schemas';

/** The block on every answer that carries a live handle; `origin` has no trailing slash. */
export function runUrls(origin: string, modelId: string, runId: string): RouterQueueUrls {
  const url = `${origin}/v2/models/${modelId}/requests/${runId}`;
  return { status_url: `${url}/status`, response_url: url, cancel_url: `${url}/cancel` };
}
