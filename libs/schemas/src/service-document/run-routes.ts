import { byStatus, failure, identified, providerFailures, refusedInput, answer } from './answers.js';
import type { Answer, Route } from './route.js';

/** JSON mostly; some models answer with bytes, under their own content type. */
export const output: Answer['content'] = { 'application/json': 'RouterModelOutput', '*/*': null };

export function synchronousRun(generation: 'v1' | 'v2'): Route {
  return {
    method: 'POST',
    path: `/${generation}/models/{provider}/{model}`,
    name: `${generation}RunModel`,
    area: 'Synchronous runs',
    summary: 'Run a model and wait for the result',
    description:
      'The body is the partner model’s own input and is forwarded byte for byte; the answer is its own output. The connection is held until then. A retry with the same `Idempotency-Key` after a 504 or a lost connection collects the run that is under way instead of starting another. A run that completed is billed whether or not the answer arrived.',
    credentials: generation === 'v1' ? 'access_token' : 'key_or_token',
    parameters: ['provider', 'model', 'idempotencyKey'],
    input: 'RouterModelInput',
    answers: byStatus(
      answer(200, 'The result, in the model’s own words.', output, { headers: ['Idempotent-Replayed'] }),
      failure(
        400,
        ['invalid_input', 'content_policy_violation'],
        'The request is malformed, or the provider refused its content.',
      ),
      ...refusedInput,
      ...providerFailures,
      failure(
        504,
        ['deadline_exceeded', 'provider_timeout'],
        'The router stopped holding the connection while the run goes on, or the provider did not answer in time.',
        { headers: ['Retry-After'] },
      ),
      ...identified,
    ),
  };
}
