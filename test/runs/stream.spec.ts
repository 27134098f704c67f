import { describe, expect, it } from '@jest/globals';
import {
  failOnLeftovers,
  newTag,
  openEvents,
  sharedSystem,
  transports,
  unending,
  waitFor,
} from '../harness/index.js';

describe.each(transports())('a status stream on %s', (transport) => {
  const system = sharedSystem(transport);

  it('sends the provider’s progress, and the end at once', async () => {
    const caller = await system.caller();
    const tag = newTag('stream');
    const run = await caller.submit(
      'meshy/text-to-3d-preview',
      JSON.stringify({ mode: 'preview', prompt: `a chair [[sim:tag=${tag}]] ${unending}` }),
    );
    const streams = await Promise.all(
      system.gateways.map(({ url }) =>
        openEvents(`${url}/v2/models/${run.model}/requests/${run.requestId}/status/stream`, {
          'x-api-key': caller.key,
        }),
      ),
    );
    const told = (what: string, is: (event: { event: string; data: Record<string, unknown> }) => boolean) =>
      waitFor(() => streams.every(({ events }) => events.some(is)), { withinMs: 60_000, what });
    await told('IN_PROGRESS', ({ data }) => data['status'] === 'IN_PROGRESS');
    await told('progress', ({ event, data }) => event === 'progress' && data['progress'] === 0.4);
    await system.provider.finish(tag);
    expect(await Promise.all(streams.map(({ ended }) => ended))).toEqual(streams.map(() => true));
    for (const { events } of streams) {
      expect(events.at(-1)?.data).toMatchObject({ request_id: run.requestId, status: 'COMPLETED' });
      expect(events.filter(({ data }) => data['status'] === 'COMPLETED').length).toBe(1);
    }
  });
});

failOnLeftovers();
