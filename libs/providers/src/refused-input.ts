import type { FieldError } from '#errors';

/** No submission can be built of this input. Thrown by `submit`, before anything is sent. */
export class RefusedInput extends Error {
  constructor(readonly fields: FieldError[]) {
    super('the input cannot be sent');
  }
}
