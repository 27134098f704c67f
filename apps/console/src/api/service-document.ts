import { queryOptions } from '@tanstack/react-query';
import { call } from './client.ts';

/** A JSON schema, as far as the reference shows it. */
export interface Shape {
  $ref?: string;
  type?: string | readonly string[];
  description?: string;
  enum?: readonly unknown[];
  const?: unknown;
  default?: unknown;
  examples?: readonly unknown[];
  properties?: Readonly<Record<string, Shape>>;
  required?: readonly string[];
  items?: Shape;
  additionalProperties?: Shape | boolean;
  anyOf?: readonly Shape[];
  oneOf?: readonly Shape[];
  allOf?: readonly Shape[];
}

export interface Parameter {
  name: string;
  in: 'path' | 'query' | 'header';
  required: boolean;
  description?: string;
  schema: Shape;
}

type Content = Readonly<Record<string, { schema?: Shape }>>;

interface Described {
  operationId: string;
  tags: readonly [string];
  summary: string;
  description?: string;
  security?: readonly object[];
  parameters?: readonly Parameter[];
  requestBody?: { content: Content };
  responses: Readonly<
    Record<string, { description: string; content?: Content; 'x-service-error-types'?: readonly string[] }>
  >;
}

interface ServiceDocument {
  tags: readonly { name: string; description: string }[];
  paths: Readonly<Record<string, Readonly<Record<string, Described>>>>;
  components: { schemas: Readonly<Record<string, Shape>> };
}

/** A route of the service. */
export interface Operation extends Described {
  method: string;
  path: string;
}

export interface Reference {
  areas: readonly { name: string; description: string; operations: readonly Operation[] }[];
  /** The schema that a reference names; a schema without a reference is its own. */
  resolve: (shape: Shape) => Shape;
}

/** The service document. It needs no credential. */
export const referenceQuery = queryOptions({
  queryKey: ['reference'],
  queryFn: async ({ signal }): Promise<Reference> => {
    const answer = await call('/openapi.json', { signal });
    return readReference((await answer.json()) as ServiceDocument);
  },
  staleTime: Infinity,
});

function readReference({ tags, paths, components }: ServiceDocument): Reference {
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, described]) => ({
      ...described,
      method: method.toUpperCase(),
      path,
    })),
  );
  return {
    areas: tags.map((area) => ({
      ...area,
      operations: operations.filter((operation) => operation.tags[0] === area.name),
    })),
    resolve: (shape) =>
      (shape.$ref === undefined ? undefined : components.schemas[shape.$ref.split('/').at(-1) ?? '']) ??
      shape,
  };
}

/** Whether a route belongs to the first generation of the API, which a second one has replaced. */
export const isFirstGeneration = ({ path }: Pick<Operation, 'path'>): boolean => path.startsWith('/v1/');
