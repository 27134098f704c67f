/** Answers 404 like every path that is none. */
const nowhere = '/v2/fal';

/**
 * The route of ours that stands for a URL of fal's: `fal.run` runs and waits, `queue.fal.run` is the queue, and the
 * storage takes files. Nothing else of fal's is there, and nobody is called. A model's path of several segments is
 * one name here: `fal-ai/flux/dev` is an alias.
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
      return path.join('/') === 'storage/upload/initiate' ? '/v2/fal/uploads' : nowhere;
    default:
      return nowhere;
  }
}

function modelRoute([provider, ...model]: string[]): string {
  return `/v2/models/${provider}/${model.join('%2F')}`;
}
