import type { Json } from '#schemas';

export const schemaTypes = ['object', 'array', 'string', 'integer', 'number', 'boolean', 'null'] as const;
export type SchemaType = (typeof schemaTypes)[number];

/**
 * The normalized form of every schema in the catalog: the subset of JSON Schema 2020-12 with which inputs are
 * checked and that documents show. It has no `$ref`, because the object is embedded in an OpenAPI document, where a
 * reference would resolve against another root. It has at most one `type` per schema, so that every error names one
 * type.
 */
export interface JsonSchema {
  type?: SchemaType;
  title?: string;
  description?: string;
  properties?: Record<string, JsonSchema>;
  /** Only for names that the router itself rejects. Rows cannot use it. */
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
  /** Values that the provider documents. Others are accepted too. */
  'x-service-known-values'?: Json[];
  const?: Json;
  minimum?: number;
  maximum?: number;
  exclusiveMinimum?: number;
  exclusiveMaximum?: number;
  multipleOf?: number;
  minLength?: number;
  maxLength?: number;
  pattern?: string;
  /** Only a description; it rejects nothing. */
  format?: string;
  allOf?: JsonSchema[];
  anyOf?: JsonSchema[];
  oneOf?: JsonSchema[];
  not?: JsonSchema;
  /** Only with a `oneOf` in which every branch requires the property as a different constant. */
  discriminator?: { propertyName: string };
  default?: Json;
  examples?: Json[];
  deprecated?: boolean;
}
