import { RouterError } from '#errors';
import { type JsonPlace, placesOf } from '#schemas';

const emptied: Readonly<Record<string, Buffer>> = { '{': Buffer.from('{}'), '[': Buffer.from('[]') };

/**
 * The input of a run, as its bytes, and the rest of the message with an empty value in its place. The input may be large
 * and is never parsed here: the route that runs it checks it.
 */
export function partsOf(message: Buffer): { envelope: Buffer; input: Buffer | undefined } {
  const places = inputsOf(message);
  const pieces: Buffer[] = [];
  let from = 0;
  for (const { start, end } of places) {
    const empty = emptied[String.fromCharCode(message[start] ?? 0)];
    if (empty === undefined) continue;
    pieces.push(message.subarray(from, start), empty);
    from = end;
  }
  const last = places.at(-1);
  return {
    envelope: Buffer.concat([...pieces, message.subarray(from)]),
    input: last && message.subarray(last.start, last.end),
  };
}

function inputsOf(message: Buffer): JsonPlace[] {
  try {
    return placesOf(message, ['/params/arguments/input']);
  } catch {
    throw new RouterError('invalid_input', 'The body is not valid JSON.');
  }
}
