import type { ProviderDefinition, Run } from '../contract.js';
import { replyOf } from './fixtures.js';

const reply = (body: unknown, status: number) => replyOf(status, JSON.stringify(body));

/** The meaning of a reply, as class and retry, or as its kind: to a submission, to a poll of `handle`, and to the fetch after it. */
export function failuresOf(
  definition: ProviderDefinition,
  upstream: Run['upstream'],
  handle: Record<string, string>,
) {
  const adapter = definition.create(definition.defaultBase, {});
  const run: Run = { runId: 'r', model: `${definition.name}/m`, upstream, body: new Uint8Array() };
  const failure = (outcome: ReturnType<typeof adapter.onSubmit> | undefined) =>
    outcome?.kind === 'failed'
      ? `${outcome.failure.class}, ${outcome.failure.retry}`
      : outcome?.kind === 'succeeded' && outcome.lacksFiles
        ? 'succeeded without files'
        : outcome?.kind;
  const resumed =
    (step: 'poll' | 'fetch') =>
    (body: unknown, status = 200) =>
      failure(adapter.onResume?.({ v: 1, step, ...handle }, reply(body, status)));
  return {
    submitted: (body: unknown, status = 200) => failure(adapter.onSubmit(run, reply(body, status))),
    polled: resumed('poll'),
    fetched: resumed('fetch'),
  };
}
