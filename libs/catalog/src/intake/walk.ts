/** What is wrong with a schema: where (JSON pointer) and why. */
export interface SchemaProblem {
  pointer: string;
  reason: string;
}

/** A file that schemas are read from. In a row's own text a keyword that nobody knows is an error, elsewhere not. */
export interface Source {
  root: unknown;
  /** The name of a partner's document; absent for the row itself. */
  file?: string;
}

/** Where the intake stands. `through` are the referenced schemas that it is inside of. */
export interface Place {
  source: Source;
  path: readonly string[];
  /** The place in the row that leads here: its own, or that of the reference into another file. */
  rowPath: readonly string[];
  depth: number;
  through: readonly unknown[];
}

/** Gives the content of a document that lies beside the row; throws with the reason when it cannot. */
export type Documents = (file: string) => unknown;

/** What one intake finds and counts. */
export interface Walk {
  problems: SchemaProblem[];
  documents: Documents;
  schemas: number;
  branches: number;
}

/** The numbers keep one schema's compilation within some ten milliseconds, and one value's check far below one. */
export const caps = { schemas: 2000, branches: 400, depth: 40 };

/** Ends an intake at a cap: going on would cost what the cap is there to save. */
export class OverCap extends Error {}

export const child = (place: Place, ...segments: readonly (string | number)[]): Place => {
  const path = segments.map(String);
  return {
    ...place,
    path: [...place.path, ...path],
    rowPath: place.source.file === undefined ? [...place.rowPath, ...path] : place.rowPath,
  };
};
