import { type Json, membersOf, textAt, withMembersFirst } from '#schemas';
import type { EventStream, Run } from './contract.js';
import { arrivingEvents, type StreamSpec } from './event-fold.js';
import { isObject } from './fields.js';
import { spliced } from './input-files.js';

/** The run as it is sent for an event stream. Undefined if the caller does not want one. */
export function streamRequest(
  spec: StreamSpec | undefined,
  run: Run,
): { run: Run; events: EventStream } | undefined {
  if (!spec || !run.streams) return undefined;
  const arriving = () => arrivingEvents(spec);
  if (!spec.includeUsage) return { run, events: { arriving } };
  const { body, isAsked } = withUsage(run.body);
  return { run: { ...run, body }, events: { arriving, ...(!isAsked && { withholds: isUsageOnly }) } };
}

const options = 'stream_options';
const member = 'include_usage';
const added = { [member]: true };

/**
 * The body with a request for the usage, whatever the caller has set, and whether the caller asked for it too. Parsers
 * differ in which of two equal names they use, and some ignore case, so every such member is set.
 */
function withUsage(body: Uint8Array): { body: Uint8Array; isAsked: boolean } {
  const given = namedAs(options, membersOf(body));
  const replaced = given.map((place) => {
    const isAnObject = body[place.start] === '{'.charCodeAt(0);
    return { ...place, pieces: isAnObject ? switchedOn(body, place) : [Buffer.from(JSON.stringify(added))] };
  });
  const last = given.findLast(({ name }) => name === options);
  const sent = given.length === 0 ? body : Buffer.concat(spliced(body, replaced));
  return {
    body: last === undefined ? withMembersFirst(sent, { [options]: added }) : sent,
    isAsked: last !== undefined && isOn(body, last.start),
  };
}

type Places = ReturnType<typeof membersOf>;

const namedAs = (name: string, members: Places): Places =>
  members.filter((each) => each.name.toLowerCase() === name);

/** The object at a place with the request. */
function switchedOn(body: Uint8Array, { start, end }: Places[number]): Uint8Array[] {
  const object = body.subarray(start, end);
  const places = namedAs(member, membersOf(object)).filter((place) => textAt(object, place) !== 'true');
  const set = Buffer.concat(
    spliced(
      object,
      places.map((place) => ({ ...place, pieces: [Buffer.from('true')] })),
    ),
  );
  return [membersOf(object).some(({ name }) => name === member) ? set : withMembersFirst(set, added)];
}

function isOn(body: Uint8Array, start: number): boolean {
  if (body[start] !== '{'.charCodeAt(0)) return false;
  const last = membersOf(body, start).findLast(({ name }) => name === member);
  return last !== undefined && textAt(body, last) === 'true';
}

/** The event that has the usage and no part of an answer, which the caller did not request. */
function isUsageOnly(data: string): boolean {
  if (!data.includes('"usage"')) return false;
  try {
    const event = JSON.parse(data) as Json;
    if (!isObject(event) || !isObject(event['usage'])) return false;
    const { choices = null, error = null } = event;
    return error === null && (choices === null || (Array.isArray(choices) && choices.length === 0));
  } catch {
    return false;
  }
}
