import { type JsonPointer, pointerFrom, pointerSegments } from './json-pointer.js';

/** A field name in the camel case of protobuf's JSON: `file_data` becomes `fileData`. */
export const camelName = (name: string): string =>
  name.replaceAll(/_+([^_]?)/g, (_, letter: string) => letter.toUpperCase());

const snakeName = (name: string): string => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** The pointer in every spelling that protobuf's JSON accepts: each name in camel case and in snake case. */
export const spellingsOf = (pointer: JsonPointer): JsonPointer[] =>
  pointerSegments(pointer)
    .reduce<string[][]>(
      (paths, segment) =>
        paths.flatMap((path) =>
          [...new Set([segment, camelName(segment), snakeName(segment)])].map((name) => [...path, name]),
        ),
      [[]],
    )
    .map((path) => pointerFrom(path) as JsonPointer);
