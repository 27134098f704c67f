import { describe, expect, it } from '@jest/globals';
import { routerQueueStatusResponse } from './queue-shapes.js';
import { runUrls, statusBody } from './status-body.js';

const runId = '0198a1c2-7d3e-7f4a-8b5c-6d7e8f901234';
const urls = runUrls('https://router.example', { modelId: 'bfl/flux-2-pro', runId });

describe('statusBody', () => {
  it.each([
    ['parked', 4, null, { status: 'IN_QUEUE', queue_position: 4 }],
    ['ready', 0, null, { status: 'IN_QUEUE', queue_position: 0 }],
    ['submitting', null, null, { status: 'IN_PROGRESS' }],
    ['running', null, null, { status: 'IN_PROGRESS' }],
    ['copying', null, null, { status: 'IN_PROGRESS' }],
    ['completed', null, null, { status: 'COMPLETED' }],
    ['completed', null, 'provider_error', { status: 'COMPLETED', error_type: 'provider_error' }],
  ] as const)('shows the stage %s', (stage, position, bucket, shown) => {
    const body = statusBody(runId, { stage, position, bucket }, urls);
    expect(body).toEqual({ request_id: runId, ...shown, ...urls });
    expect(routerQueueStatusResponse.safeParse(body).success).toBe(true);
  });
});

describe('runUrls', () => {
  it('has three absolute URLs in their order', () => {
    const run = `https://router.example/v2/models/bfl/flux-2-pro/requests/${runId}`;
    expect(Object.entries(urls)).toEqual([
      ['status_url', `${run}/status`],
      ['response_url', run],
      ['cancel_url', `${run}/cancel`],
    ]);
  });
});
