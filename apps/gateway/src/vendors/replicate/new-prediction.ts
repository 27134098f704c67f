import { InputRejection, RouterError } from '#errors';
import type { JsonPlace } from '#schemas';
import { z } from 'zod';
import { parseSmall } from '../../bodies/parse-input.js';

/** The body of a call that begins a prediction, beside its input. Everything else in it is ignored. */
const envelope = z.object({
  version: z.string().nullish(),
  model: z.string().nullish(),
  webhook: z.string().nullish(),
  webhook_events_filter: z.array(z.string()).nullish(),
});

interface NewPrediction {
  /** The bytes of the input, which is not parsed here. */
  input: Buffer;
  /** The name of the model or version in the body. */
  name: string | undefined;
  webhook: string | undefined;
}

/** Reads the body of a call that begins a prediction; `place` is that of its input. */
export function newPrediction(bytes: Buffer, place: JsonPlace | undefined): NewPrediction {
  const beside =
    place === undefined
      ? bytes
      : Buffer.concat([bytes.subarray(0, place.start), Buffer.from('0'), bytes.subarray(place.end)]);
  const { data, error } = envelope.safeParse(parseSmall(beside));
  if (error) {
    const [{ path, message } = { path: [], message: 'invalid' }] = error.issues;
    throw new RouterError('invalid_input', `${path.join('.')}: ${message}.`);
  }
  if (place === undefined)
    throw new InputRejection([{ loc: ['body'], msg: 'Field required', type: 'missing' }]);
  const { version, model, webhook, webhook_events_filter: events } = data;
  if (webhook && events && !events.includes('completed'))
    throw new RouterError(
      'invalid_input',
      'webhook_events_filter must include completed: the router sends no other event.',
    );
  return {
    input: bytes.subarray(place.start, place.end),
    // A version may have its model before it: `owner/name:version`.
    name: version?.split(':').at(-1) ?? model ?? undefined,
    webhook: webhook ?? undefined,
  };
}

/** The longest wait, and the one of a call that names none. */
const maxWaitS = 60;

/** How long the header `Prefer` asks to wait for the end of the prediction, in milliseconds; 0 without it. */
export function waitMsOf(prefer: string | string[] | undefined): number {
  const [isWait, seconds = maxWaitS] = /(?<=^|[,;\s])wait(?:\s*=\s*"?(\d+)"?)?/i.exec(String(prefer)) ?? [];
  return isWait === undefined ? 0 : 1000 * Math.min(maxWaitS, Math.max(1, Number(seconds)));
}
