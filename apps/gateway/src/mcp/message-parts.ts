import { RouterError } from '#errors';
import { type JsonPlace, placesOf } from '#schemas';
import { z } from 'zod';
import { tooLarge } from '../bodies/body-stream.js';
import { maxSmallValues, smallBytes, tooManyValues } from '../bodies/parse-input.js';

const waitingCall = z.object({
  method: z.literal('tools/call'),
  params: z.object({ name: z.enum(['run_model', 'get_run']) }),
});

/** Whether the message calls a tool that may wait for a run. A message may be a batch. */
export const mayWait = (message: unknown): boolean =>
  [message].flat().some((each) => waitingCall.safeParse(each).success);

const nullArguments = z.looseObject({ params: z.looseObject({ arguments: z.null() }) });

/** The message with empty arguments in place of null, which some agents send to tools without required ones. */
export function withArguments(message: Record<string, unknown>): Record<string, unknown> {
  const { success, data } = nullArguments.safeParse(message);
  return success ? { ...data, params: { ...data.params, arguments: {} } } : message;
}

const emptied: Readonly<Record<string, Buffer>> = {
  '{': Buffer.from('{}'),
  '[': Buffer.from('[]'),
  '"': Buffer.from('""'),
};

/**
 * Splits a message into the input of a run or the bytes of a file, as raw JSON, and the rest, with an empty value in
 * its place. The input may be large and is never parsed here, because the route of the run checks it. Throws
 * `invalid_input` if the rest is not small.
 */
export function partsOf(message: Buffer): { envelope: Buffer; input: Buffer | undefined } {
  const [place, second] = inputsOf(message);
  // A parser would take the last of two, so a second input is ambiguous.
  if (second) throw new RouterError('invalid_input', 'The message has more than one input.');
  if (!place) return { envelope: message, input: undefined };
  const { start, end } = place;
  const input = message.subarray(start, end);
  const empty = emptied[String.fromCharCode(message[start] ?? 0)];
  const envelope = empty
    ? Buffer.concat([message.subarray(0, start), empty, message.subarray(end)])
    : message;
  return { envelope, input };
}

/**
 * The walk stops as soon as the rest of the message has more bytes or members than may be parsed in the event loop.
 */
function inputsOf(message: Buffer): JsonPlace[] {
  let members = 0;
  const visit = (bytesBeside: number) => {
    members += 1;
    if (bytesBeside > smallBytes) throw tooLarge(smallBytes);
    if (members > maxSmallValues) throw tooManyValues();
  };
  try {
    return placesOf(message, ['/params/arguments/input', '/params/arguments/data'], visit);
  } catch (error) {
    throw error instanceof RouterError
      ? error
      : new RouterError('invalid_input', 'The body is not valid JSON.');
  }
}
