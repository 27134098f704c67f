import { createContext } from 'react';
import type { Input } from '../../../api/model-document.ts';
import type { FieldProblem } from '../../../api/problem.ts';

/** The form passes this to its templates besides the schema and the input. */
export interface FormContext {
  problems: readonly FieldProblem[];
  /** The field that was just filled from elsewhere. */
  filled: readonly (string | number)[] | undefined;
}

/** The whole input, for fields that depend on another one. Other fields don't draw again when it changes. */
export const WholeInput = createContext<Input>({});

/** The placeholder of a field without a default: the value in the model's example. */
export const exampleOf = ({
  examples,
  default: standard,
}: {
  examples?: unknown;
  default?: unknown;
}): unknown => (standard === undefined && Array.isArray(examples) ? examples[0] : undefined);
