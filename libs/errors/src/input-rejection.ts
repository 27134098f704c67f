import { RouterError } from './router-error.js';

/** An invalid field, as in the body of a 422. `loc` starts with `"body"`; integers are array indexes. */
export interface FieldError {
  loc: (string | number)[];
  msg: string;
  type: string;
  ctx?: Record<string, unknown>;
  input?: unknown;
}

/** A 422: the model or its schema does not accept these fields. */
export class InputRejection extends RouterError {
  constructor(readonly fields: FieldError[]) {
    super('invalid_input', 'The model does not accept this input.', { status: 422 });
    this.name = 'InputRejection';
  }
}
