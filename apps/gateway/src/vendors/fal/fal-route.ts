/** A path without a route; answers 404. */
const nowhere = '/v2/fal';

const uploadRoutes: Readonly<Record<string, string>> = {
  'storage/upload/initiate': '/v2/fal/uploads',
  'storage/upload/initiate-multipart': '/v2/fal/uploads/parts',
};

/**
 * Maps a URL of fal to one of our routes: `fal.run` runs and waits, `queue.fal.run` is the queue, and the storage
 * accepts files. Other URLs map to no route, and nothing is sent to fal. A model's path of several segments is one
 * name here: `fal-ai/flux/dev` is an alias.
 */
export function falRoute(target: string): string {
  if (!URL.canParse(target)) return nowhere;
  const { protocol, host, pathname, search } = new URL(target);
  const path = pathname.split('/').filter((segment) => segment !== '');
  if (protocol !== 'https:' || path.length === 0) return nowhere;
  switch (host) {
    case 'fal.run':
      return `${modelRoute(path)}${search}`;
    case 'queue.fal.run': {
      const at = path.indexOf('requests');
      const [model, run] = at === -1 ? [path, []] : [path.slice(0, at), path.slice(at + 1)];
      return [modelRoute(model), 'requests', ...run].join('/') + search;
    }
    case 'rest.fal.ai':
    case 'rest.alpha.fal.ai':
      return uploadRoutes[path.join('/')] ?? nowhere;
    default:
      return nowhere;
  }
}

function modelRoute([provider, ...model]: string[]): string {
  return `/v2/models/${provider}/${model.join('%2F')}`;
}
