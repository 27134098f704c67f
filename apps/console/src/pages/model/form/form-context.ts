import type { FieldProblem } from '../../../api/problem.ts';

/** The form passes this to its templates besides the schema and the input. */
export interface FormContext {
  problems: readonly FieldProblem[];
  /** The field that was just filled from elsewhere. */
  filled: readonly (string | number)[] | undefined;
}

/** The placeholder of a field without a default: the value in the model's example. */
export const exampleOf = ({
  examples,
  default: standard,
}: {
  examples?: unknown;
  default?: unknown;
}): unknown => (standard === undefined && Array.isArray(examples) ? examples[0] : undefined);
