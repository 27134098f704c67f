import type { Run } from './contract.js';

/** One entry of the model row's address. Throws when the row lacks it: a row is checked before it is used. */
export function upstream(run: Run, name: string): string {
  const value = run.upstream[name];
  if (value === undefined) throw new Error(`model ${run.model} has no upstream ${name}`);
  return value;
}
