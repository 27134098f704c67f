import { InputRejection, RouterError } from '#errors';
import { maxRefusedCalls, type NotedRefusal } from '#persistence';
import { expect, it } from '@jest/globals';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { keptStatuses, RefusedCalls } from './refused-calls.js';
import { nameSubmission } from './submissions.js';

const refusal = new RouterError('insufficient_credits', 'No credits.');
const flux = { provider: 'bfl', model: 'flux-2-pro' };

function recorder() {
  const written: NotedRefusal[][] = [];
  const state = { isDown: false };
  const calls = new RefusedCalls(
    {
      note: async (noted) => {
        if (state.isDown) throw new RouterError('service_unavailable', 'away');
        written.push([...noted]);
      },
    },
    { warn: () => {} },
  );
  return { calls, state, written, ids: () => written.flat().map(({ callId }) => callId) };
}

const requestOf = (id: string, workspaceId: string | undefined = 'w') =>
  ({
    id,
    method: 'POST',
    routeOptions: { url: '/v2/models/:provider/:model/requests' },
    caller: workspaceId === undefined ? null : { workspaceId },
  }) as unknown as FastifyRequest;

/** The reply to a call for a run. */
function replyOf(headers: Record<string, string> = {}): FastifyReply {
  const reply = { getHeader: (name: string) => headers[name] } as unknown as FastifyReply;
  nameSubmission(reply, flux);
  return reply;
}

it('writes the facts of a refusal, without values of the input', async () => {
  const { calls, written } = recorder();
  const field = { loc: ['body', 'prompt'], msg: 'Field required', type: 'missing', input: 'a secret' };
  const strange = { ...field, loc: ['body', 'a prompt as a name'] };
  calls.note(new InputRejection([field, strange]), requestOf('one'), replyOf());
  await calls.write();
  expect(written).toEqual([
    [
      {
        callId: 'one',
        workspaceId: 'w',
        agoMs: expect.any(Number),
        route: 'POST /v2/models/{provider}/{model}/requests',
        status: 422,
        bucket: 'invalid_input',
        model: 'bfl/flux-2-pro',
        detail: 'The model does not accept this input.',
        fields: [
          { name: 'body.prompt', type: 'missing' },
          { name: '…', type: 'missing' },
        ],
      },
    ],
  ]);
  await calls.write();
  expect(written).toHaveLength(1);
});

it('notes only refusals of calls for a run by a known caller', async () => {
  const { calls, ids } = recorder();
  const statuses = [400, 401, 403, 404, 409, 413, 503, ...keptStatuses];
  for (const status of statuses)
    calls.note(new RouterError('invalid_input', 'No.', { status }), requestOf(`${status}`), replyOf());
  calls.note(refusal, { ...requestOf('no caller'), caller: null }, replyOf());
  calls.note(refusal, requestOf('has a run'), replyOf({ 'x-service-run-id': 'run' }));
  calls.note(refusal, requestOf('no submission'), { getHeader: () => undefined } as unknown as FastifyReply);
  await calls.write();
  expect(ids()).toEqual(keptStatuses.map(String));
});

it('keeps the newest of a workspace in memory, and no more than ten workspaces’ worth', async () => {
  const { calls, written, ids } = recorder();
  for (let nth = 0; nth < maxRefusedCalls + 5; nth += 1) calls.note(refusal, requestOf(`${nth}`), replyOf());
  for (let nth = 0; nth < 10 * maxRefusedCalls; nth += 1)
    calls.note(refusal, requestOf(`other ${nth}`, `w${nth % 20}`), replyOf());
  await calls.write();
  expect(ids().slice(0, maxRefusedCalls)).toEqual(
    Array.from({ length: maxRefusedCalls }, (_, nth) => `${nth + 5}`),
  );
  expect(ids()).toHaveLength(10 * maxRefusedCalls);
  expect(Math.max(...written.map((calls) => calls.length))).toBe(1_000);
});

it('writes what the database did not take when it is back', async () => {
  const { calls, state, ids } = recorder();
  state.isDown = true;
  calls.note(refusal, requestOf('first'), replyOf());
  await expect(calls.write()).rejects.toThrow('away');
  calls.note(refusal, requestOf('second'), replyOf());
  state.isDown = false;
  await calls.write();
  expect(ids()).toEqual(['first', 'second']);
});
