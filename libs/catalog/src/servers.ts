import type { Catalog } from './catalog.js';
import { inputErrors } from './check-input.js';
import type { Model } from './model.js';

/** The rows by which a model is served, its own first; one that has ended serves nothing. */
export const serversOf = (catalog: Pick<Catalog, 'find'>, model: Model): Model[] => [
  model,
  ...model.servers.flatMap((id) => catalog.find(id) ?? []),
];

/** What callers know a provider by: the first segment of an id. */
export const visibleProvider = (id: string): string => id.slice(0, id.indexOf('/'));

/**
 * Whether a server may take an input that was meant for another one: its own schema accepts it and declares every
 * field. Inputs are open, so a field that it does not know would be lost without a word.
 */
export const fits = (server: Model, input: Readonly<Record<string, unknown>>): boolean =>
  Object.keys(input).every((name) => Object.hasOwn(server.input.properties ?? {}, name)) &&
  inputErrors(server, input).length === 0;
