/** Something the person at the terminal can act on; its message is one line, printed without a stack. */
export class StartFailure extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'StartFailure';
  }
}
