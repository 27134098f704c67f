import type { ProviderDefinition, Run } from '../contract.js';
import { replyOf } from './fixtures.js';

const reply = (body: unknown, status: number) => replyOf(status, JSON.stringify(body));

/** What a partner's reply means, as class and retry: `submitted` to a submission, `polled` to a poll of `handle`. */
export function failuresOf(
  definition: ProviderDefinition,
  upstream: Run['upstream'],
  handle: Record<string, string>,
) {
  const adapter = definition.create(definition.defaultBase, {});
  const run: Run = { runId: 'r', model: `${definition.name}/m`, upstream, body: new Uint8Array() };
  const failure = (outcome: ReturnType<typeof adapter.onSubmit> | undefined) =>
    outcome?.kind === 'failed' ? `${outcome.failure.class}, ${outcome.failure.retry}` : outcome?.kind;
  return {
    submitted: (body: unknown, status = 200) => failure(adapter.onSubmit(run, reply(body, status))),
    polled: (body: unknown, status = 200) =>
      failure(adapter.onResume?.({ v: 1, step: 'poll', ...handle }, reply(body, status))),
  };
}
