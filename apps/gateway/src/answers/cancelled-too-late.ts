import { RouterError } from '#errors';

/** The run has its outcome already; the answer has the shape of every answer to a cancellation. */
export class CancelledTooLate extends RouterError {
  constructor(readonly runId: string) {
    super('invalid_input', 'The run has completed already.');
  }
}
