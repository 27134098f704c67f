import type { DocumentFrame, Generation } from '#catalog';
import type { ServiceDocument } from '../openapi/service-document.js';

const template = '{provider}/{model}';

/** What the documents of all models share: the route of a run as the service document has it, without its path. */
export function documentFrame(
  { servers, paths, components }: ServiceDocument,
  generation: Generation,
): DocumentFrame {
  const route = paths[`/${generation}/models/${template}`]?.['post'];
  if (!route) throw new Error(`there is no run route of ${generation}`);
  const { security, responses } = route;
  const parameters = route.parameters?.filter((each) => each.in !== 'path');
  const { securitySchemes, ...parts } = components;
  // The result's content is the model's own.
  const { '200': ok, ...failures } = responses;
  const named = referenced({ parameters, failures, headers: ok?.headers }, parts);
  const usable = Object.entries(securitySchemes).filter(([name]) => security.some((each) => name in each));
  return {
    servers,
    externalDocs: {
      description: 'The whole service: queued runs of this model, their state and their results.',
      url: `${servers[0]?.url.replace(/(?<!\/)\/+$/, '')}/openapi.json`,
    },
    operation: { security, parameters, responses },
    components: { ...named, securitySchemes: Object.fromEntries(usable) },
  };
}

type Parts = Record<string, Record<string, unknown>>;

/** The parts that a fragment refers to, and those that they refer to. */
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
