import {
  jsonExcess,
  type Json,
  type JsonPointer,
  pointerFrom,
  pointerSegments,
  valueAt,
  valuesAt,
} from '#schemas';
import type { Condition } from './condition.js';
import type { ArrivingEvents, FoldedEvents, HttpCall, HttpReply, StreamTerms } from './contract.js';
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
  /** The places in events of everything that the model writes. By default, those of `text` up to a member `delta`. */
  written?: readonly string[] | undefined;
  /** The places in the document of the numbers of tokens that the model wrote. */
  writtenTokens: readonly JsonPointer[];
  /**
   * The event with the last part of the answer, or the place in the document that every element of a list has by then.
   * Usage may follow. Absent if only the end tells.
   */
  answered?: { when: readonly Condition[] } | { every: string } | undefined;
  /** The event that brings the final usage, if it comes with the last part of the answer or later. By default, the end. */
  usageWhen?: Condition | undefined;
  /** The call for the provider's own record of a stream by its id, and the places in it of what the document lacks. */
  record?: StreamRecordSpec | undefined;
  /** The last event of a complete stream: its data, or conditions, of which one must hold. */
  end: string | readonly Condition[];
  /** Whether other events may follow the end, such as those of a second answer. */
  goesOn?: true | undefined;
  /** The event that reports an error. */
  errorWhen: Condition;
  /** The place of the HTTP status of an error or of a word in `statuses`. Any other error counts as 500. */
  errorStatus: JsonPointer;
  statuses: Readonly<Record<string, number>>;
}

/** The provider’s record of a stream that ended without its usage. */
interface StreamRecordSpec {
  /** The place in the document of the id. */
  id: JsonPointer;
  call: (id: string) => HttpCall;
  usage: readonly { from: JsonPointer; to: JsonPointer }[];
}

/** Texts may be nested this deep without harm for the reader. */
const maxUncheckedLength = 4096;
const maxIndex = 1000;
/** Larger events would block the event loop, so they are read only once the stream has ended. */
const maxArrivingLength = 1024 * 1024;

const encoder = new TextEncoder();

/** Reads all events of a reply. `reply.body` may end within an event if the stream was cut. */
export function foldEvents(spec: StreamSpec, reply: HttpReply): FoldedEvents {
  const fold = new EventFold(spec, reply);
  const splitter = new EventSplitter();
  const events = splitter.push(reply.body);
  // Some servers close the connection without the blank line after the last event.
  if (!reply.cut) events.push(splitter.rest());
  for (const event of events) fold.take(dataOf(event));
  return fold.folded;
}

/** Reads the events of a stream one by one while they arrive. */
export const arrivingEvents = (spec: StreamSpec): ArrivingEvents => {
  const fold = new EventFold(spec, { status: 200, headers: {}, body: new Uint8Array() });
  return {
    take: (data) => fold.take(data, maxArrivingLength),
    get folded() {
      return fold.folded;
    },
    get hasEnded() {
      return fold.folded.isComplete && !spec.goesOn;
    },
    get isMissingUsage() {
      return fold.isAnswered && !fold.folded.hasUsage && fold.folded.error === undefined;
    },
  };
};

class EventFold {
  readonly folded: FoldedEvents = {
    document: {},
    hasUsage: false,
    isComplete: false,
    writtenBytes: 0,
    isPartial: false,
  };
  isAnswered = false;
  private hasReport = false;
  private readonly texts: ReadonlySet<string>;
  private readonly appended: ReadonlySet<string>;
  private readonly written: readonly string[];

  constructor(
    private readonly spec: StreamSpec,
    private readonly reply: HttpReply,
  ) {
    this.texts = new Set(spec.text.flat());
    this.appended = new Set(spec.appended);
    this.written = spec.written ?? [...new Set([...this.texts].map(upToDelta))];
  }

  /** Takes the data of the next event. A longer one than `maxLength` is left out, which makes the whole partial. */
  take(data: string, maxLength = Infinity): void {
    const { spec, folded } = this;
    if (data === '') return;
    if (data === spec.end) this.complete();
    if (data.length > maxLength) folded.isPartial = true;
    const event = data.length > maxLength ? undefined : parsed(data);
    if (event === undefined) return;
    if (this.isTrue(spec.errorWhen, event)) {
      folded.error ??= errorOf(spec, event);
      return;
    }
    for (const { when, from, to } of spec.fold) {
      const value = valueAt(event, from);
      if (value === undefined || (when && !this.isTrue(when, event))) continue;
      const path = pathIn(to, event);
      if (path) folded.document = placed(folded.document, path, (into) => this.merged(into, value, from));
    }
    folded.writtenBytes += writtenBytes(event, this.written);
    this.isAnswered ||= this.endsAnswer(event);
    if (typeof spec.end !== 'string' && spec.end.some((each) => this.isTrue(each, event))) this.complete();
    if (!spec.usageWhen || !this.isTrue(spec.usageWhen, event)) return;
    this.hasReport = true;
    folded.hasUsage ||= this.isAnswered || folded.isComplete;
  }

  private complete(): void {
    this.folded.isComplete = true;
    this.folded.hasUsage ||= this.hasReport || this.spec.usageWhen === undefined;
  }

  private endsAnswer(event: Json): boolean {
    const { answered } = this.spec;
    if (answered === undefined) return false;
    if ('when' in answered) return answered.when.some((each) => this.isTrue(each, event));
    const path = pointerSegments(answered.every);
    const at = path.indexOf('*');
    const [list, rest] = [path.slice(0, at), path.slice(at + 1)].map((part) => pointerFrom(part));
    const elements = valueAt(this.folded.document, list ?? '');
    return (
      Array.isArray(elements) &&
      elements.length > 0 &&
      elements.every((element) => (valueAt(element, rest ?? '') ?? null) !== null)
    );
  }

  private isTrue(condition: Condition, event: Json): boolean {
    return holds(condition, 'submit', this.reply, event);
  }

  private merged(into: Json | undefined, value: Json, at: string): Json {
    if (value === null) return into ?? null;
    if (typeof value === 'string')
      return this.texts.has(at) && typeof into === 'string' ? into + value : value;
    if (typeof value !== 'object') return value;
    if (!Array.isArray(value)) {
      const object = isObject(into) ? into : {};
      for (const [key, member] of Object.entries(value)) {
        if (key === '__proto__') continue;
        const name = this.spec.names[key] ?? key;
        const earlier = Object.hasOwn(object, name) ? object[name] : undefined;
        object[name] = this.merged(earlier, member, `${at}/${key}`);
      }
      return object;
    }
    const list = Array.isArray(into) ? into : [];
    const isAppended = this.appended.has(at);
    for (const [position, element] of value.entries()) {
      const index = isAppended ? list.length : indexIn(list, element, position);
      list[index] = this.merged(list[index], element, `${at}/*`);
    }
    return list;
  }
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

/** The document of these values, by their places. */
export const documentOf = (values: readonly { to: JsonPointer; value: Json }[]): Json =>
  values.reduce<Json>((document, { to, value }) => placed(document, pointerSegments(to), () => value), {});

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

/** The place of everything that the model adds, given the place of one text in it. */
const upToDelta = (place: string): string => /^.*?\/delta(?=\/|$)/.exec(place)?.[0] ?? place;

/** Members below a delta that describe it. They are not written by the model. */
const describing = new Set(['type', 'role', 'id', 'index', 'status', 'format']);

/** The length in bytes of everything that the model adds with an event. A text with two names counts once. */
function writtenBytes(event: Json, places: readonly string[]): number {
  const found = new Set<string>();
  const add = (value: Json): void => {
    if (typeof value === 'string') found.add(value);
    else if (Array.isArray(value)) value.forEach(add);
    else if (isObject(value))
      for (const [name, member] of Object.entries(value)) if (!describing.has(name)) add(member);
  };
  for (const place of places) valuesAt(event, place).forEach(add);
  return [...found].reduce((sum, text) => sum + Buffer.byteLength(text), 0);
}

/** Some providers send the members of the error without the object around them. */
function errorOf({ errorStatus, statuses }: StreamSpec, event: Json): FoldedEvents['error'] {
  const body = isObject(event) && isObject(event['error']) ? event : { error: event };
  const code = valueAt(body, errorStatus);
  const status = typeof code === 'string' && Object.hasOwn(statuses, code) ? statuses[code] : Number(code);
  return { status: isErrorStatus(status) ? status : 500, body };
}

const isErrorStatus = (status: number | undefined): status is number =>
  status !== undefined && Number.isInteger(status) && status >= 400 && status < 600;
