import { createHash } from 'node:crypto';
import type { FieldError } from '#errors';
import { type Json, type JsonPlace, type JsonPointer, membersOf, textAt, withMembersFirst } from '#schemas';
import type { BodyPiece, HttpCall, InputFile, Run } from './contract.js';
import { fieldError } from './fields.js';
import { base64Bytes, inlineFile } from './inline-file.js';
import { type Base64Place, pieceOf, spliced, withBase64 } from './input-files.js';

/** Thrown by `submit`, before anything is sent, if no request can be built from the input. */
export class RefusedInput extends Error {
  constructor(readonly fields: FieldError[]) {
    super('the input cannot be sent');
  }
}

interface EncodedBody extends Pick<HttpCall, 'body' | 'pieces'> {
  contentType: string;
}

/** Builds the request body from the caller's bytes. Without an encoding, these bytes are the body. */
export interface Encoding {
  (run: Run): EncodedBody;
  /** Where the input may have a file URL that the body replaces by the file's bytes. */
  filePlaces?: readonly JsonPointer[];
}

/** The caller's bytes unchanged, except that files replace their URLs. */
export function jsonBody(run: Run, base64: readonly Base64Place[]): EncodedBody {
  const pieces = withBase64(run, base64);
  return { contentType: 'application/json', ...(pieces ? { pieces } : { body: run.body }) };
}

/** `{"<name>": …}` around the caller's bytes, preceded by those `upstreamFields` that the model row has. */
export const envelope =
  (name: string, upstreamFields: readonly string[] = []): Encoding =>
  ({ upstream, body }) => {
    const members = upstreamFields
      .filter((entry) => upstream[entry] !== undefined)
      .map((entry) => `${JSON.stringify(entry)}:${JSON.stringify(upstream[entry])},`);
    return joinedJson(['{', ...members, `${JSON.stringify(name)}:`, body, '}']);
  };

const joinedJson = (pieces: readonly (string | Uint8Array)[]): EncodedBody => ({
  contentType: 'application/json',
  body: Buffer.concat(pieces.map((piece) => (typeof piece === 'string' ? Buffer.from(piece) : piece))),
});

/**
 * Sends each member of the caller's object as a field of multipart/form-data: text unchanged, numbers with their
 * original digits, objects and lists as JSON. Null is omitted, and the last of duplicate names counts. `files` names the
 * members that contain base64 or a data: URL, single or in a list; each becomes a file. `lists` names the members whose
 * elements become fields of their own, and the name of these fields; without an entry, a list of files has its own name.
 */
export function form({
  files = [],
  lists = {},
}: { files?: readonly string[]; lists?: Readonly<Record<string, string>> } = {}): Encoding {
  const encode = ({ runId, body, files: found }: Run): EncodedBody => {
    const fields = new Map(membersOf(body).map((member) => [member.name, textAt(body, member)]));
    const parts = [...fields]
      .filter(([, json]) => json !== 'null')
      .flatMap(([name, json]) => {
        const fieldName = Object.hasOwn(lists, name) ? lists[name] : undefined;
        if (files.includes(name)) return filesOf(name, json, found, fieldName);
        return fieldName === undefined ? [fieldOf(name, json)] : elementsOf(fieldName, json);
      });
    return multipart(parts, boundaryFor(runId, body));
  };
  return Object.assign(encode, {
    filePlaces: files.flatMap((name): JsonPointer[] => [`/${name}`, `/${name}/*`]),
  });
}

/** A form with a single file, as the field `name`. */
export const fileForm = (
  runId: string,
  name: string,
  file: InputFile,
): Pick<HttpCall, 'headers' | 'body' | 'pieces'> => {
  const { contentType, ...sent } = multipart([partOf(name, file)], `form-${runId}`);
  return { headers: { 'content-type': contentType, accept: 'application/json' }, ...sent };
};

/**
 * For a provider that takes media as objects: with the key `image_url` and `{ image: { name: 'images', list: true } }`,
 * `"image": "u"` becomes `"images": [{"image_url": "u"}]`. List elements are wrapped one by one. Values that are objects
 * already, and all other members, stay unchanged; null is omitted.
 */
export const assetFields =
  (key: string, fields: Readonly<Record<string, { name: string; list?: true }>>): Encoding =>
  ({ body }) => {
    const bytesAt = ({ start, end }: JsonPlace) => body.subarray(start, end);
    const startsWith = (sign: string, { start }: JsonPlace) => body[start] === sign.charCodeAt(0);
    const reference = (place: JsonPlace): (string | Uint8Array)[] =>
      startsWith('{', place) ? [bytesAt(place)] : [`{${JSON.stringify(key)}:`, bytesAt(place), '}'];
    const changed = membersOf(body).flatMap((member): (string | Uint8Array)[][] => {
      const change = Object.hasOwn(fields, member.name) ? fields[member.name] : undefined;
      const name = `${JSON.stringify(change?.name ?? member.name)}:`;
      if (change === undefined) return [[name, bytesAt(member)]];
      if (isNull(body, member)) return [];
      if (!change.list) return [[name, ...reference(member)]];
      const elements = startsWith('[', member) ? membersOf(body, member.start) : [member];
      return [
        [name, '[', ...elements.flatMap((each, index) => [index > 0 ? ',' : '', ...reference(each)]), ']'],
      ];
    });
    return joinedJson(['{', ...changed.flatMap((member, index) => [index > 0 ? ',' : '', ...member]), '}']);
  };

/**
 * Turns off kinds of replies that the run does not expect, for inputs of earlier releases, which accepted them:
 * `"stream": true` becomes `"stream": false`. False and null stay, nothing is added, and no other byte changes. `encode`
 * then builds the body. A run with `streams` is sent unchanged.
 */
export function forceFalse(
  members: readonly string[],
  encode: Encoding = (run) => jsonBody(run, []),
): Encoding {
  const forced = (run: Run): EncodedBody => {
    if (run.streams) return encode(run);
    const { body } = run;
    // Some providers ignore the case of names.
    const places = membersOf(body)
      .filter(({ name }) => members.includes(name.toLowerCase()))
      .filter((place) => !isNull(body, place) && textAt(body, place) !== 'false')
      .map((place) => ({ ...place, pieces: [Buffer.from('false')] }));
    return encode(places.length === 0 ? run : { ...run, body: Buffer.concat(spliced(body, places)) });
  };
  return Object.assign(forced, encode.filePlaces && { filePlaces: encode.filePlaces });
}

/**
 * Sets members in the caller's object. They replace the caller's values, whatever the case of the name, because some
 * providers ignore it. Members that the caller did not set come first, and no other byte changes. With `list`, the
 * object is sent as the only element of a list.
 */
export const withSet =
  (set: (uuid: string) => Readonly<Record<string, Json>>, list = false): Encoding =>
  ({ runId, body }) => {
    const own = Object.entries(set(uuidOf(runId)));
    const values = new Map(own.map(([name, value]) => [name.toLowerCase(), JSON.stringify(value)]));
    const named = membersOf(body).flatMap((member) => {
      const value = values.get(member.name.toLowerCase());
      return value === undefined ? [] : [{ ...member, pieces: [Buffer.from(value)] }];
    });
    const object = withMembersFirst(
      Buffer.concat(spliced(body, named)),
      Object.fromEntries(own.filter(([key]) => !named.some(({ name }) => name === key))),
    );
    return joinedJson(list ? ['[', object, ']'] : [object]);
  };

/**
 * A UUID for providers whose clients name the task; version 4, because some check. It is derived from the run's id, so
 * that a repeated submission, even from another worker, names the same task.
 */
function uuidOf(runId: string): string {
  const bytes = createHash('sha256').update(runId).digest();
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x40, 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  return bytes.toString('hex', 0, 16).replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}

interface Part {
  name: string;
  bytes: BodyPiece;
  type?: string;
  fileName?: string;
}

function multipart(parts: readonly Part[], boundary: string): EncodedBody {
  const contentType = `multipart/form-data; boundary=${boundary}`;
  const pieces = [
    ...parts.flatMap((part) => [Buffer.from(headOf(part, boundary)), part.bytes, lineEnd]),
    Buffer.from(`--${boundary}--\r\n`),
  ];
  return pieces.every((piece) => piece instanceof Uint8Array)
    ? { contentType, body: Buffer.concat(pieces) }
    : { contentType, pieces };
}

const partOf = (name: string, file: InputFile): Part => ({
  name,
  bytes: pieceOf(file),
  type: file.mediaType,
  fileName: `${name}.${extensionOf(file)}`,
});

/** Some providers rely on the extension. If the content does not tell it, the key has the one of the caller's name. */
function extensionOf({ mediaType, content }: InputFile): string {
  const [, subtype = 'bin'] = /\/(?:x-)?(\w+)/.exec(mediaType) ?? [];
  if (mediaType !== 'application/octet-stream') return subtype;
  return 'storedAs' in content ? (/\.(\w+)$/.exec(content.storedAs)?.[1] ?? 'bin') : 'bin';
}

/**
 * Leaves out these members, because they are sent elsewhere. No other byte changes, apart from a comma. `encode` then
 * builds the body.
 */
export function withoutMembers(names: readonly string[], encode: Encoding): Encoding {
  const rest = (run: Run): EncodedBody => {
    const { body } = run;
    const members = membersOf(body);
    const first = members.findIndex(({ name }) => !names.includes(name));
    const opening = body.indexOf('{'.charCodeAt(0)) + 1;
    const places = members.flatMap(({ name, end }, index): JsonPlace[] => {
      if (!names.includes(name)) return [];
      // A member goes with the comma before it, or at the start with the comma after it.
      const start = members[index - 1]?.end ?? opening;
      return [{ start, end: index === first - 1 ? body.indexOf(','.charCodeAt(0), end) + 1 : end }];
    });
    const cut = spliced(
      body,
      places.map((place) => ({ ...place, pieces: [] as Uint8Array[] })),
    );
    return encode({ ...run, body: Buffer.concat(cut) });
  };
  return Object.assign(rest, encode.filePlaces && { filePlaces: encode.filePlaces });
}

/** Characters that stay one segment of a path, whatever reads the address. */
const segment = /^[A-Za-z0-9_-]{1,128}$/;

/** A text member of the caller's object, for use in the path of an address. The last of duplicate names counts. */
export function segmentOf({ body }: Run, name: string): string {
  const member = membersOf(body).findLast((each) => each.name === name);
  const value = member && (JSON.parse(textAt(body, member)) as unknown);
  if (typeof value === 'string' && segment.test(value)) return value;
  const message = 'This field is part of an address: a text of up to 128 letters, digits, _ and -.';
  throw new RefusedInput([fieldError([name], message, 'value_error')]);
}

/** Whether the member counts as absent. */
export const isNull = (body: Uint8Array, { start, end }: JsonPlace): boolean =>
  end - start === 4 && body[start] === 'n'.charCodeAt(0);

const lineEnd = Buffer.from('\r\n');

const fieldOf = (name: string, json: string): Part => ({
  name,
  bytes: Buffer.from(json.startsWith('"') ? (JSON.parse(json) as string) : json),
});

/** One field for each element of a list. Any other value is a single field. */
const elementsOf = (name: string, json: string): Part[] => {
  const bytes = Buffer.from(json);
  return json.startsWith('[')
    ? membersOf(bytes).map((element) => fieldOf(name, textAt(bytes, element)))
    : [fieldOf(name, json)];
};

const bytesWanted =
  'This model takes the file itself: the URL of a file uploaded to this router, base64, or a data: URL.';

function filesOf(name: string, json: string, found: Run['files'], listName = name): Part[] {
  const value = JSON.parse(json) as unknown;
  const fieldName = Array.isArray(value) ? listName : name;
  return [value]
    .flat()
    .filter((each) => typeof each === 'string')
    .map((each) => {
      const file = found?.get(each) ?? inlineFile(each);
      if (file) return { ...partOf(name, file), name: fieldName };
      const bytes = base64Bytes(each);
      if (bytes) return { name: fieldName, fileName: name, bytes, type: 'application/octet-stream' };
      throw new RefusedInput([fieldError([name], bytesWanted, 'value_error')]);
    });
}

const quoted = (text: string): string => `"${text.replaceAll('"', '%22').replaceAll(/[\r\n]/g, ' ')}"`;

function headOf({ name, type, fileName = name }: Part, boundary: string): string {
  const file = type === undefined ? '' : `; filename=${quoted(fileName)}\r\nContent-Type: ${type}`;
  return `--${boundary}\r\nContent-Disposition: form-data; name=${quoted(name)}${file}\r\n\r\n`;
}

/** The same in every attempt of a run, and not contained in its body. */
function boundaryFor(runId: string, body: Uint8Array): string {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  let boundary = `form-${runId}`;
  while (bytes.includes(boundary)) boundary += '-';
  return boundary;
}
