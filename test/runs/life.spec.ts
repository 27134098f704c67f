import { beforeAll, describe, expect, it } from '@jest/globals';
import {
  failOnLeftovers,
  sha256,
  sharedSystem,
  type TestCaller,
  newTag,
  transports,
  unending,
  waitFor,
} from '../harness/index.js';

describe.each(transports())('the life of a run on %s', (transport) => {
  const system = sharedSystem(transport);
  let caller: TestCaller;

  beforeAll(async () => {
    caller = await system.caller();
  });

  it('goes through IN_QUEUE, IN_PROGRESS and COMPLETED, and returns the provider’s own JSON with an image that opens', async () => {
    const light = newTag('light');
    const run = await caller.submit(
      'bfl/flux-2-pro',
      `{"prompt":"a lighthouse [[sim:tag=${light}]] ${unending}"}`,
    );
    const seen = new Set<unknown>();
    const until = (wanted: string) =>
      waitFor(
        async () => {
          const status = (await caller.status(run)).json()['status'];
          seen.add(status);
          return status === wanted;
        },
        { withinMs: 20_000, what: wanted, everyMs: 20 },
      );
    await until('IN_PROGRESS');
    const accepted = async () => (await system.provider.accepted(light)) === 1;
    await waitFor(accepted, { withinMs: 20_000, what: 'the submission' });
    await system.provider.finish(light);
    await until('COMPLETED');
    expect([...seen].slice(-2)).toEqual(['IN_PROGRESS', 'COMPLETED']);
    const result = await caller.collect(run);
    expect(result.status).toBe(200);
    expect(result.headers.get('content-type')).toMatch(/^application\/json/);
    const body = result.json() as { status: string; result: { sample: string } };
    expect(body.status).toBe('Ready');
    const image = await fetch(body.result.sample);
    expect(image.status).toBe(200);
    expect(
      Buffer.from(await image.arrayBuffer())
        .subarray(1, 4)
        .toString(),
    ).toBe('PNG');
  });

  it('a submission returns its status, position and three absolute URLs, in order', async () => {
    const answer = await caller.call('POST', '/v2/models/fal/flux-dev/requests', {
      body: '{"prompt":"handle"}',
    });
    expect(answer.status).toBe(201);
    const handle = answer.json();
    expect(Object.keys(handle)).toEqual([
      'request_id',
      'status',
      'queue_position',
      'status_url',
      'response_url',
      'cancel_url',
    ]);
    expect(handle).toMatchObject({ status: 'IN_QUEUE', queue_position: 0 });
    const run = { requestId: String(handle['request_id']), model: 'fal/flux-dev', body: '' };
    await caller.completed(run);
    expect((await caller.call('GET', String(handle['response_url']))).status).toBe(200);
  });

  it('carries the caller’s bytes to the provider and the provider’s bytes back', async () => {
    const [open, bytes] = [newTag('open'), newTag('bytes')];
    const body = `{"prompt":"[[sim:tag=${open}]]","seed":12345678901234567890,"z":1.0,"z2" : 2}`;
    // The row has no schema, because only such a row accepts undocumented fields.
    await caller.completed(await caller.submit('bfl/open', body));
    const [sent] = await system.provider.ledger(open);
    expect(Buffer.from(sent?.bodyBase64 ?? '', 'base64').toString()).toBe(body);

    const accepted = `{ "prompt" :"bytes \\u00e9 [[sim:tag=${bytes}]]",\n\t"seed":4294967295 , "width":1.024e3 }`;
    const run = await caller.submit('bfl/flux-2-pro', accepted);
    await caller.completed(run);
    const [entry] = await system.provider.ledger(bytes);
    expect(Buffer.from(entry?.bodyBase64 ?? '', 'base64').toString()).toBe(accepted);
    expect(entry?.bodySha256).toBe(sha256(accepted));
  });
});

failOnLeftovers();
