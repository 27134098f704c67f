import { expect, it } from '@jest/globals';
import { problemOf } from './problem.ts';

const answer = (headers: Record<string, string>) =>
  new Response('{"detail":"It failed.","error_type":"internal_error"}', {
    status: 500,
    headers: { 'x-service-request-id': 'the-call', ...headers },
  });

it('a failed call has its own id, and the id of its run if there is one', async () => {
  const { runId, callId } = await problemOf(answer({ 'x-service-run-id': 'the-run' }));
  expect([runId, callId]).toEqual(['the-run', 'the-call']);
  expect((await problemOf(answer({}))).runId).toBeUndefined();
});

it('a failed call has the fields that are most likely typos', async () => {
  const said = { 'x-service-unknown-fields': 'hieght (height?), a.b-c (a_b?)' };
  expect((await problemOf(answer(said))).unknownFields).toEqual([
    { name: 'hieght', suggestion: 'height' },
    { name: 'a.b-c', suggestion: 'a_b' },
  ]);
  expect((await problemOf(answer({}))).unknownFields).toEqual([]);
});
