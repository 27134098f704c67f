import { didYouMean } from '#catalog';

/** An error for an unknown name, which suggests up to three similar ones. */
export const unknownName = (kind: string, name: string, known: Iterable<string>): Error =>
  new Error(`There is no ${kind} "${name}".${didYouMean(name, known, (near) => `"${near}"`)}`);
