import { readFileSync } from 'node:fs';
import { SourceMap } from 'node:module';
import { fileURLToPath } from 'node:url';

/** A place in a module, as V8 writes it: the URL, the line and the column. */
const builtPlace = /(file:\/\/[^\s():]+\.js):(\d+):(\d+)/;
const builtFolder = /\/dist\/(?:apps|libs)\//;

/** `null` for a file without a readable map. */
const maps = new Map<string, SourceMap | null>();

/**
 * Makes stack traces name the lines of the TypeScript sources. A map is read when a stack trace needs it. Node's
 * `--enable-source-maps` reads and keeps the map of every file that is loaded, also of packages, which costs a gateway
 * about 20 MiB and a tenth of its start.
 */
export function showSourceLines(): void {
  Error.prepareStackTrace = (error, sites) => {
    const lines = sites.map((site: unknown) => `\n    at ${String(site).replace(builtPlace, sourcePlace)}`);
    return `${headOf(error)}${lines.join('')}`;
  };
}

/** A broken `toString` must not hide the rest of the stack trace. */
function headOf(error: Error): string {
  try {
    return Error.prototype.toString.call(error);
  } catch {
    return 'Error';
  }
}

function sourcePlace(place: string, url: string, line: string, column: string): string {
  if (!builtFolder.test(url)) return place;
  const entry = mapOf(url)?.findEntry(Number(line) - 1, Number(column) - 1);
  if (entry === undefined || !('originalSource' in entry)) return place;
  const source = fileURLToPath(new URL(entry.originalSource, url));
  return `${source}:${entry.originalLine + 1}:${entry.originalColumn + 1}`;
}

function mapOf(url: string): SourceMap | null {
  let map = maps.get(url);
  if (map === undefined) {
    map = readMap(url);
    maps.set(url, map);
  }
  return map;
}

function readMap(url: string): SourceMap | null {
  try {
    return new SourceMap(JSON.parse(readFileSync(fileURLToPath(`${url}.map`), 'utf8')));
  } catch {
    return null;
  }
}
