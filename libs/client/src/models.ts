/**
 * The input and output types of each model, by ID. The package's build adds all models of the catalog. Add others in
 * your own code: `declare module 'model-router-client' { interface Models { 'acme/paint': … } }`.
 */
// oxlint-disable-next-line typescript/no-empty-object-type
export interface Models {}

/** A model ID from the catalog, or any other string. */
// `Models` is empty here, but not in the built package.
// oxlint-disable-next-line typescript/no-redundant-type-constituents
export type ModelId = keyof Models | (string & {});

/**
 * The ID that a method accepts. A literal must be an ID of `Models`, which finds misspelled ones. A value of the type
 * `string` is any ID: use `'acme/new' as string` for a model that `Models` does not have.
 */
export type AcceptedId<Id extends ModelId> = Id extends keyof Models
  ? Id
  : string extends Id
    ? Id
    : [keyof Models] extends [never]
      ? Id
      : keyof Models;

/**
 * The input of a model. A file can replace any string, such as a URL. Fields that the schema does not name are errors;
 * the option `extra` of each method adds them.
 */
export type InputOf<Id extends ModelId> = Id extends keyof Models
  ? WithFiles<Models[Id] extends { input: infer Input } ? Input : never>
  : object;

/** The output of a model: parsed JSON, or a `Blob` for anything else. */
export type OutputOf<Id extends ModelId> = Id extends keyof Models
  ? Models[Id] extends { output: infer Output }
    ? Output
    : never
  : // Only the caller knows the output of other models.
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
