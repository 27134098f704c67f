import { jsonExcess, type Json, type JsonPointer, pointerSegments, valueAt, valuesAt } from '#schemas';
import type { Condition } from './condition.js';
import type { HttpReply, StreamTerms } from './contract.js';
import { dataOf, EventSplitter } from './event-splitter.js';
import { isObject } from './fields.js';
import { replyLimits } from './reply.js';
import { holds } from './rules.js';

/** A place in an event or in the document. An empty one is all of it. */
type Place = JsonPointer | '';

/** How a provider streams a result, as data. */
export interface StreamSpec extends StreamTerms {
  /** Whether the final usage must be requested with `stream_options.include_usage`. */
  includeUsage?: true | undefined;
  /**
   * The parts of events that form the document, which is the reply without a stream. The value at `from` is merged into
   * the value at `to`, in which `{name}` stands for the number of that name in the event.
   */
  fold: readonly { when?: Condition | undefined; from: Place; to: string }[];
  /** Members whose name differs between events and the document. */
  names: Readonly<Record<string, string>>;
  /** Lists, by their places in events, whose elements are appended. Other elements are merged by `index` or position. */
  appended: readonly string[];
  /** The event that brings the final usage. By default, usage in any event counts. */
  usageWhen?: Condition | undefined;
  /** The last event of a complete stream: its data, or conditions, of which one must hold. */
  end: string | readonly Condition[];
  /** The event that reports an error. */
  errorWhen: Condition;
  /** The place of the HTTP status of an error or of a word in `statuses`. Any other error counts as 500. */
  errorStatus: JsonPointer;
  statuses: Readonly<Record<string, number>>;
}

export interface FoldedEvents {
  /** The reply without a stream, as far as it arrived. */
  document: Json;
  hasUsage: boolean;
  /** Whether the provider ended the stream. */
  isComplete: boolean;
  /** The first error as the reply to a call would report it. */
  error?: { status: number; body: Json };
  /** The length of the text that arrived. */
  characters: number;
}

/** Texts may be nested this deep without harm for the reader. */
const maxUncheckedLength = 4096;
const maxIndex = 1000;

const encoder = new TextEncoder();

/** Reads all events of a reply. `reply.body` may end within an event if the stream was cut. */
export function foldEvents(spec: StreamSpec, reply: HttpReply): FoldedEvents {
  const folded: FoldedEvents = { document: {}, hasUsage: !spec.usageWhen, isComplete: false, characters: 0 };
  const texts = new Set<string>(spec.text.flat());
  const appended = new Set(spec.appended);
  const isTrue = (condition: Condition, event: Json) => holds(condition, 'submit', reply, event);

  const merged = (into: Json | undefined, value: Json, at: string): Json => {
    if (value === null) return into ?? null;
    if (typeof value === 'string') return texts.has(at) && typeof into === 'string' ? into + value : value;
    if (typeof value !== 'object') return value;
    if (!Array.isArray(value)) {
      const object = isObject(into) ? into : {};
      for (const [key, member] of Object.entries(value)) {
        if (key === '__proto__') continue;
        const name = spec.names[key] ?? key;
        object[name] = merged(Object.hasOwn(object, name) ? object[name] : undefined, member, `${at}/${key}`);
      }
      return object;
    }
    const list = Array.isArray(into) ? into : [];
    const isAppended = appended.has(at);
    for (const [position, element] of value.entries()) {
      const index = isAppended ? list.length : indexIn(list, element, position);
      list[index] = merged(list[index], element, `${at}/*`);
    }
    return list;
  };

  const take = (data: string): void => {
    if (data === spec.end) folded.isComplete = true;
    const event = parsed(data);
    if (event === undefined) return;
    if (isTrue(spec.errorWhen, event)) {
      folded.error ??= errorOf(spec, event);
      return;
    }
    for (const { when, from, to } of spec.fold) {
      const value = valueAt(event, from);
      if (value === undefined || (when && !isTrue(when, event))) continue;
      const path = pathIn(to, event);
      if (path) folded.document = placed(folded.document, path, (into) => merged(into, value, from));
    }
    folded.characters += lengthOf(spec.text, event);
    folded.hasUsage ||= spec.usageWhen !== undefined && isTrue(spec.usageWhen, event);
    folded.isComplete ||= typeof spec.end !== 'string' && spec.end.some((each) => isTrue(each, event));
  };

  const splitter = new EventSplitter();
  const events = splitter.push(reply.body);
  // Some servers close the connection without the blank line after the last event.
  if (!reply.cut) events.push(splitter.rest());
  for (const event of events) {
    const data = dataOf(event);
    if (data !== '') take(data);
  }
  return folded;
}

function parsed(data: string): Json | undefined {
  if (data.length > maxUncheckedLength && jsonExcess(encoder.encode(data), replyLimits) !== null)
    return undefined;
  try {
    return JSON.parse(data) as Json;
  } catch {
    return undefined;
  }
}

/** The position of the element with the same `index`, or of a new one. Without an index, the position is given. */
function indexIn(list: readonly Json[], element: Json, position: number): number {
  const index = isObject(element) ? element['index'] : undefined;
  if (typeof index !== 'number') return Math.min(position, list.length);
  const same = (each: Json | undefined) => isObject(each) && each['index'] === index;
  if (same(list[index])) return index;
  const found = list.slice(0, maxIndex).findIndex(same);
  return found === -1 ? Math.min(list.length, maxIndex) : found;
}

/** The path of a place with the event's numbers; undefined if a number is missing. */
function pathIn(to: string, event: Json): (string | number)[] | undefined {
  const path: (string | number)[] = [];
  for (const segment of pointerSegments(to)) {
    const [, name] = /^\{(\w+)\}$/.exec(segment) ?? [];
    const found = name === undefined ? segment : valueAt(event, `/${name}`);
    if (name === undefined) path.push(segment);
    else if (typeof found === 'number' && Number.isInteger(found) && found >= 0 && found < maxIndex)
      path.push(found);
    else return undefined;
  }
  return path;
}

/** Changes the value at a path, whose objects and lists are created. */
function placed(
  into: Json | undefined,
  [first, ...rest]: readonly (string | number)[],
  change: (into: Json | undefined) => Json,
): Json {
  if (first === undefined) return change(into);
  if (typeof first === 'number') {
    const list = Array.isArray(into) ? into : [];
    const index = Math.min(first, list.length);
    list[index] = placed(list[index], rest, change);
    return list;
  }
  const object = isObject(into) ? into : {};
  object[first] = placed(Object.hasOwn(object, first) ? object[first] : undefined, rest, change);
  return object;
}

const lengthOf = (texts: StreamSpec['text'], event: Json): number =>
  texts
    .map((places) => {
      for (const place of [places].flat()) {
        const found = place.includes('*') ? valuesAt(event, place) : [valueAt(event, place)];
        const length = found.reduce<number>(
          (sum, value) => sum + (typeof value === 'string' ? value.length : 0),
          0,
        );
        if (length > 0) return length;
      }
      return 0;
    })
    .reduce((sum, length) => sum + length, 0);

/** Some providers send the members of the error without the object around them. */
function errorOf({ errorStatus, statuses }: StreamSpec, event: Json): FoldedEvents['error'] {
  const body = isObject(event) && isObject(event['error']) ? event : { error: event };
  const code = valueAt(body, errorStatus);
  const status = typeof code === 'string' && Object.hasOwn(statuses, code) ? statuses[code] : Number(code);
  return { status: isErrorStatus(status) ? status : 500, body };
}

const isErrorStatus = (status: number | undefined): status is number =>
  status !== undefined && Number.isInteger(status) && status >= 400 && status < 600;
