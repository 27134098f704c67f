import { loadCatalog, type Model } from '#catalog';
import { readFileSync } from 'node:fs';
import { vendors } from '../../apps/gateway/src/vendors/vendors.js';
import { servedRoutesFile } from '../harness/shared/described.js';

export interface ServedRoute {
  /** Method and path as they are registered, such as `GET /v2/files/:fileId`. */
  route: string;
  method: string;
  /** The path with a value for each of its parameters. */
  path: string;
}

const id = '0198a1c2-7d3e-7f4a-8b5c-6d7e8f901234';

/** A value for each parameter of a path. A route with another parameter needs a value here. */
const values: Record<string, string> = {
  provider: 'bfl',
  model: 'flux-2-pro',
  variant: 'nothing',
  owner: 'black-forest-labs',
  workspace: 'nobody',
  name: 'daily',
  digest: '0'.repeat(64),
  token: 'nobody',
  upload: 'nobody',
  '*': 'nothing',
  ...Object.fromEntries(['requestId', 'request_id', 'fileId', 'keyId', 'id'].map((name) => [name, id])),
};

/**
 * Every route that a gateway serves, vendors' paths included, as it registered them in this file: by default the usual
 * shared gateway.
 */
export function servedRoutes(file = servedRoutesFile()): ServedRoute[] {
  const lines = readFileSync(file, 'utf8').trimEnd().split('\n');
  const registered = lines.map((line) => JSON.parse(line) as [method: string, url: string]);
  // A path that is served for every method answers 404 in the format of its vendor.
  const unknown = new Set(registered.filter(([method]) => method === 'TRACE').map(([, url]) => url));
  return registered
    .filter(([method, url]) => method !== 'HEAD' && !unknown.has(url))
    .map(([method, url]) => ({ route: `${method} ${url}`, method, path: filled(url) }));
}

const filled = (url: string): string =>
  url
    // The syntax in which vendors' paths are registered.
    .replaceAll('(^[^:]+)', '')
    .replaceAll(/(?<!:):(?!:)(\w+)|\*/g, (whole, name: string = whole) => {
      const value = values[name];
      if (value === undefined) throw new Error(`Give a value to the parameter ${name} of ${url}.`);
      return value;
    })
    .replaceAll('::', ':');

/** A route that takes a body, and a usual body, which reaches the check of the input or further. */
export interface RouteWithBody extends ServedRoute {
  usual: Record<string, unknown>;
}

export async function routesWithBody(file?: string): Promise<RouteWithBody[]> {
  const { models } = await loadCatalog();
  return servedRoutes(file)
    .filter(({ method }) => method !== 'GET')
    .map((served) => ({ ...served, ...callOf(served, models) }));
}

/** For paths of vendors that run models: a model that the vendor serves there, in the path or in the body. */
function callOf({ path }: ServedRoute, models: readonly Model[]): Pick<RouteWithBody, 'path' | 'usual'> {
  const usual = { prompt: 'x' };
  for (const vendor of vendors) {
    if (!('routes' in vendor)) continue;
    for (const { path: below, provider = vendor.provider, serves } of vendor.routes) {
      const at = `${vendor.base}${below}`;
      if (path !== at.replace('{model}', values['model'] ?? '')) continue;
      const row = models.find((model) => model.provider === provider && serves(model));
      if (row === undefined) throw new Error(`No row is served at ${at}.`);
      const name = vendor.nameOf(row);
      return { path: at.replace('{model}', name), usual: { ...(row.example as object), model: name } };
    }
  }
  return { path, usual: path.startsWith('/replicate/') ? { model: 'x/flux-schnell', input: usual } : usual };
}
