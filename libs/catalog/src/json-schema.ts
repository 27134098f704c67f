import type { Json } from '#schemas';

export const schemaTypes = ['object', 'array', 'string', 'integer', 'number', 'boolean', 'null'] as const;
export type SchemaType = (typeof schemaTypes)[number];

/**
 * The one form that every schema of the catalog is brought to: the part of JSON Schema 2020-12 that inputs are
 * checked with and that documents show. It has no `$ref`, because the same object is placed inside an OpenAPI
 * document, where a reference would resolve against another root; and one `type` a schema, so that every error
 * names one.
 */
export interface JsonSchema {
  type?: SchemaType;
  title?: string;
  description?: string;
  properties?: Record<string, JsonSchema>;
  /** Only where the router itself refuses names; a row cannot say it. */
  patternProperties?: Record<string, JsonSchema>;
  required?: string[];
  additionalProperties?: boolean | JsonSchema;
  minProperties?: number;
  maxProperties?: number;
  items?: JsonSchema;
  minItems?: number;
  maxItems?: number;
  uniqueItems?: boolean;
  enum?: Json[];
  const?: Json;
  minimum?: number;
  maximum?: number;
  exclusiveMinimum?: number;
  exclusiveMaximum?: number;
  multipleOf?: number;
  minLength?: number;
  maxLength?: number;
  pattern?: string;
  /** Describes and refuses nothing. */
  format?: string;
  allOf?: JsonSchema[];
  anyOf?: JsonSchema[];
  oneOf?: JsonSchema[];
  not?: JsonSchema;
  /** Only beside a `oneOf` whose every branch requires the property as a constant of its own. */
  discriminator?: { propertyName: string };
  default?: Json;
  examples?: Json[];
  deprecated?: boolean;
}
