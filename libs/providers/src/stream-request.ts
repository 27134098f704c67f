import { type Json, membersOf, withMembersFirst } from '#schemas';
import type { EventStream, Run } from './contract.js';
import { isNull } from './encodings.js';
import type { StreamSpec } from './event-fold.js';
import { isObject } from './fields.js';
import { spliced } from './input-files.js';

/** The run as it is sent for an event stream. Undefined if the caller does not want one. */
export function streamRequest(
  spec: StreamSpec | undefined,
  run: Run,
): { run: Run; events: EventStream } | undefined {
  if (!spec || !run.streams) return undefined;
  const body = spec.includeUsage ? withUsage(run.body) : undefined;
  return body === undefined
    ? { run, events: {} }
    : { run: { ...run, body }, events: { withholds: isUsageOnly } };
}

/** The body with a request for the final usage. Undefined if the caller has decided on it. */
function withUsage(body: Uint8Array): Uint8Array | undefined {
  const options = membersOf(body).findLast(({ name }) => name === 'stream_options');
  const added = { include_usage: true };
  if (options === undefined) return withMembersFirst(body, { stream_options: added });
  const replacedBy = (value: Uint8Array) => Buffer.concat(spliced(body, [{ ...options, pieces: [value] }]));
  if (isNull(body, options)) return replacedBy(Buffer.from(JSON.stringify(added)));
  if (body[options.start] !== '{'.charCodeAt(0)) return undefined;
  const isSet = membersOf(body, options.start).some(({ name }) => name === 'include_usage');
  return isSet ? undefined : replacedBy(withMembersFirst(body.subarray(options.start, options.end), added));
}

/** The event that brings nothing but the usage, which the caller did not request. */
function isUsageOnly(data: string): boolean {
  if (!data.includes('"usage"')) return false;
  try {
    const event = JSON.parse(data) as Json;
    if (!isObject(event) || !isObject(event['usage'])) return false;
    const { choices } = event;
    return Array.isArray(choices) && choices.length === 0;
  } catch {
    return false;
  }
}
