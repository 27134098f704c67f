import { queryOptions } from '@tanstack/react-query';
import { call } from './client.ts';
import type { TextPlaces } from './streamed-text.ts';

/** The parts of JSON Schema that the console reads. */
export interface Schema {
  type?: string | string[];
  title?: string;
  description?: string;
  properties?: Record<string, Schema>;
  patternProperties?: Record<string, Schema>;
  additionalProperties?: Schema | boolean;
  required?: string[];
  items?: Schema;
  minItems?: number;
  maxItems?: number;
  enum?: unknown[];
  /** Values that the provider documents. Others are accepted too. */
  'x-service-known-values'?: unknown[];
  const?: unknown;
  default?: unknown;
  examples?: unknown[];
  anyOf?: Schema[];
  oneOf?: Schema[];
  allOf?: Schema[];
  minimum?: number;
  maximum?: number;
  multipleOf?: number;
  maxLength?: number;
  pattern?: string;
  format?: string;
  not?: unknown;
}

export type Input = Record<string, unknown>;

interface Media {
  schema?: Schema;
  example?: Input;
}

/** How a model streams: by a member of the input that is true, or by a query of the call. */
export interface StreamTerms {
  member?: string;
  query?: string;
  text: TextPlaces;
}

interface Document {
  'x-service-input-schema-authored': boolean;
  'x-service-price'?: { text: string; date?: string };
  'x-service-stream'?: StreamTerms;
  paths: Record<
    string,
    {
      post: {
        parameters?: { name: string; 'x-service-input-header'?: boolean }[];
        requestBody: { content: Record<string, Media> };
        responses: Record<string, { content?: Record<string, Media> }>;
      };
    }
  >;
}

export interface ModelDocument {
  isAuthored: boolean;
  input: Schema;
  example: Input;
  output: Schema | undefined;
  /** Absent if the model does not stream. */
  stream: StreamTerms | undefined;
  /** The provider's own headers that a call may have. */
  headers: string[];
}

/** A model's input and output schemas, from its own OpenAPI document. */
export const modelDocumentQuery = (id: string) =>
  queryOptions({
    queryKey: ['model-document', id],
    queryFn: async ({ signal }): Promise<ModelDocument> => {
      const answer = await call(`/v2/models/${id}/openapi.json`, { signal });
      const document = (await answer.json()) as Document;
      const post = Object.values(document.paths)[0]?.post;
      const body = post?.requestBody.content['application/json'];
      return {
        isAuthored: document['x-service-input-schema-authored'],
        input: body?.schema ?? { type: 'object' },
        example: atThisOrigin(body?.example ?? {}),
        output: post?.responses['200']?.content?.['application/json']?.schema,
        stream: document['x-service-stream'],
        headers: (post?.parameters ?? [])
          .filter((each) => each['x-service-input-header'])
          .map(({ name }) => name),
      };
    },
    staleTime: 5 * 60_000,
  });

/** Sample files have relative URLs if the service doesn't know its own address. */
const atThisOrigin = (example: Input): Input =>
  JSON.parse(JSON.stringify(example), (_, value: unknown) =>
    typeof value === 'string' && value.startsWith('/console/samples/') ? location.origin + value : value,
  ) as Input;
