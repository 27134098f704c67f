import { type JsonPlace, type JsonPointer, placesOf, pointerSegments, stringAt } from '#schemas';
import type { BodyPiece, FileUse, InputFile, Run } from './contract.js';

/** A place in the input that takes a file in base64: bare, or as a `data:` URL. */
export interface Base64Place {
  path: JsonPointer;
  format?: 'data_url';
}

const quote = 0x22;
const link = { http: /^https?:/i, any: /^(https?|data):/i };

interface Found extends JsonPlace {
  url: string;
  path: (string | number)[];
}

/** Below two nested lists, the index in the outer list is not known. */
function pathOf(pointer: JsonPointer, nth: number): (string | number)[] {
  const segments = pointerSegments(pointer);
  const first = segments.indexOf('*');
  return first === segments.lastIndexOf('*')
    ? segments.map((segment) => (segment === '*' ? nth : segment))
    : segments.slice(0, first);
}

/** The strings at these places that are http(s) URLs or, with `any`, `data:` URLs. */
function urlsAt(body: Uint8Array, pointers: readonly JsonPointer[], kind: keyof typeof link): Found[] {
  return pointers.flatMap((pointer) =>
    placesOf(body, [pointer]).flatMap((place, nth) => {
      if (body[place.start] !== quote) return [];
      // A long string is already a file, so only its first bytes are read.
      const start = Buffer.from(
        body.buffer,
        body.byteOffset + place.start + 1,
        Math.min(8, place.end - place.start),
      );
      if (!link[kind].test(start.toString('latin1'))) return [];
      return [{ ...place, url: stringAt(body, place), path: pathOf(pointer, nth) }];
    }),
  );
}

export const fileUses = (
  { body }: Run,
  { base64, upload }: { base64: readonly JsonPointer[]; upload: readonly JsonPointer[] },
): FileUse[] => [
  ...urlsAt(body, base64, 'http').map(({ url, path }) => ({ url, path, upload: false })),
  ...urlsAt(body, upload, 'any').map(({ url, path }) => ({ url, path, upload: true })),
];

/** The input with the provider's upload ids in place of the file URLs. */
export function withUploads(run: Run, places: readonly JsonPointer[]): Run {
  const found = inOrder(urlsAt(run.body, places, 'any')).flatMap(({ url, ...place }) => {
    const id = run.uploads?.get(url);
    return id === undefined ? [] : [{ ...place, pieces: [Buffer.from(id)] }];
  });
  return found.length === 0 ? run : { ...run, body: Buffer.concat(spliced(run.body, found)) };
}

/** The input with base64 in place of file URLs; undefined if there are none. */
export function withBase64(run: Run, places: readonly Base64Place[]): BodyPiece[] | undefined {
  const found = places.flatMap(({ path, format }) =>
    urlsAt(run.body, [path], 'http').flatMap(({ url, ...place }) => {
      const file = run.files?.get(url);
      if (!file) return [];
      const opening = format === 'data_url' ? `"data:${file.mediaType};base64,` : '"';
      return [{ ...place, pieces: [Buffer.from(opening), base64Of(file), Buffer.from('"')] }];
    }),
  );
  return found.length === 0 ? undefined : spliced(run.body, inOrder(found));
}

/** A file as a part of a body. */
export const pieceOf = ({ content, bytes }: InputFile): BodyPiece =>
  content instanceof Uint8Array ? content : { ...content, bytes };

const base64Of = ({ content, bytes }: InputFile): BodyPiece =>
  content instanceof Uint8Array
    ? Buffer.from(Buffer.from(content).toString('base64'))
    : { ...content, bytes, base64: true };

const inOrder = <T extends JsonPlace>(places: readonly T[]): T[] =>
  places.toSorted((one, other) => one.start - other.start);

/** Replaces these places of the body, given in order, by their pieces. */
export function spliced<P extends BodyPiece>(
  body: Uint8Array,
  places: readonly (JsonPlace & { pieces: readonly P[] })[],
): (Uint8Array | P)[] {
  let from = 0;
  const pieces = places.flatMap(({ start, end, pieces: replacing }) => {
    const before = body.subarray(from, start);
    from = end;
    return [before, ...replacing];
  });
  return [...pieces, body.subarray(from)];
}
