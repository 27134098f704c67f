import type { DocumentFrame, Generation } from '#catalog';
import type { ServiceDocument } from '../openapi/service-document.js';

const template = '{provider}/{model}';

/** The part that the documents of all models share: the run route of the service document, without its path. */
export function documentFrame(
  { servers, paths, components }: ServiceDocument,
  generation: Generation,
): DocumentFrame {
  const route = paths[`/${generation}/models/${template}`]?.['post'];
  if (!route) throw new Error(`there is no run route of ${generation}`);
  const { security, responses } = route;
  const parameters = route.parameters?.filter((each) => each.in !== 'path');
  const { securitySchemes, ...parts } = components;
  // The document of each model describes its own result.
  const { '200': ok, ...failures } = responses;
  const named = referenced({ parameters, failures, headers: ok?.headers }, parts);
  const usable = Object.entries(securitySchemes).filter(([name]) => security.some((each) => name in each));
  return {
    servers,
    externalDocs: {
      description: 'The API of the whole service: queued runs of this model, their state and their results.',
      url: `${servers[0]?.url.replace(/(?<!\/)\/+$/, '')}/openapi.json`,
    },
    operation: { security, parameters, responses },
    components: { ...named, securitySchemes: Object.fromEntries(usable) },
  };
}

type Parts = Record<string, Record<string, unknown>>;

/** The components that a fragment references, directly or indirectly. */
function referenced(fragment: unknown, parts: Parts, found: Parts = {}): Parts {
  for (const [, kind = '', name = ''] of JSON.stringify(fragment).matchAll(
    /"#\/components\/(\w+)\/([^"]+)"/g,
  )) {
    const part = parts[kind]?.[name];
    if (part === undefined || found[kind]?.[name] !== undefined) continue;
    (found[kind] ??= {})[name] = part;
    referenced(part, parts, found);
  }
  return found;
}
