import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';

/** The version of this build, and the commit from which it was made. */
interface Release {
  version: string;
  /** The git commit, with `-dirty` if files differed from it; `unknown` before the first build. */
  revision: string;
  /** The time of the commit, so that the same commit gives the same build; `unknown` before the first build. */
  builtAt: string;
}

/** The part of a release that git or the builder states. */
export type Source = Omit<Release, 'version'>;

export const unknown: Source = { revision: 'unknown', builtAt: 'unknown' };
export const root = packageFolder(import.meta.dirname);
/** `npm run build` writes it. */
export const sourceFile = path.join(root, 'dist/libs/observability/src/release.json');

export const release: Release = {
  version: String(
    (JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8')) as { version?: string }).version,
  ),
  ...(existsSync(sourceFile) ? (JSON.parse(readFileSync(sourceFile, 'utf8')) as Source) : unknown),
};

/** The answer to `--version`. */
export const releaseText = `model-router ${release.version} (revision ${release.revision}, built at ${release.builtAt})`;

/** A revision that fits into a legend. */
export const shortRevision = release.revision.replace(/^([0-9a-f]{12})[0-9a-f]+/, '$1');

/** The body of `GET /health`. `ready` is the result of the readiness probe. */
export function healthOf(ready: boolean | string) {
  return {
    status: ready === true ? ('ready' as const) : ('not_ready' as const),
    ...(typeof ready === 'string' && { reason: ready }),
    version: release.version,
    revision: release.revision,
    built_at: release.builtAt,
  };
}

function packageFolder(folder: string): string {
  return existsSync(path.join(folder, 'package.json')) ? folder : packageFolder(path.dirname(folder));
}
