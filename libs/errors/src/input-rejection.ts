import { type ErrorReply, RouterError } from './router-error.js';

/** An invalid field, as in the body of a 422. `loc` starts with `"body"`; integers are array indexes. */
export interface FieldError {
  loc: (string | number)[];
  msg: string;
  type: string;
  ctx?: Record<string, unknown>;
  input?: unknown;
}

/** A field that the model's schema does not name, and the similar one that it does: most likely a typo. */
export interface UnknownField {
  name: string;
  suggestion: string;
}

/** A 422: the model or its schema does not accept these fields. */
export class InputRejection extends RouterError {
  constructor(
    readonly fields: FieldError[],
    readonly unknownFields: readonly UnknownField[] = [],
    reply?: ErrorReply,
  ) {
    super('invalid_input', 'The model does not accept this input.', { status: 422, reply });
    this.name = 'InputRejection';
  }
}
