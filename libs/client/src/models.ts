/**
 * What each model takes and gives, by its id. The build of the package writes the catalog's models here; declare more
 * in your own code: `declare module 'model-router-client' { interface Models { 'acme/paint': … } }`.
 */
// oxlint-disable-next-line typescript/no-empty-object-type
export interface Models {}

/** An id of the catalog, or any other one. */
// Empty here, not in the package that is built.
// oxlint-disable-next-line typescript/no-redundant-type-constituents
export type ModelId = keyof Models | (string & {});

/**
 * The input of a model, in which a file may stand wherever the model takes a text, such as a URL. Fields that its schema
 * does not name are passed on to the provider.
 */
export type InputOf<Id extends ModelId> = Id extends keyof Models
  ? WithFiles<Models[Id] extends { input: infer Input } ? Input : never> & OtherFields
  : object;

// `unknown` would refuse a value whose type is an interface.
// oxlint-disable-next-line typescript/no-explicit-any
type OtherFields = Record<string, any>;

/** What a model gives: parsed JSON, or a `Blob` of anything else. */
export type OutputOf<Id extends ModelId> = Id extends keyof Models
  ? Models[Id] extends { output: infer Output }
    ? Output
    : never
  : // What another model gives is known to the caller alone.
    // oxlint-disable-next-line typescript/no-explicit-any
    any;

export type FileInput = Blob | Uint8Array | ArrayBuffer;

type WithFiles<Value> = Value extends string
  ? string extends Value
    ? Value | FileInput
    : Value
  : Value extends readonly (infer Each)[]
    ? WithFiles<Each>[]
    : Value extends object
      ? { [Name in keyof Value]: WithFiles<Value[Name]> }
      : Value;
