/** Prints the failures with the number of their run, and at the end how many runs failed. */
export default class NumberedFailures {
  #runs = 0;
  #failed = 0;

  onTestFileResult(_test, { failureMessage, numPendingTests, numPassingTests }) {
    this.#runs += 1;
    if (failureMessage) {
      this.#failed += 1;
      process.stdout.write(`run ${this.#runs} failed:\n${failureMessage}\n`);
    } else process.stdout.write(`run ${this.#runs}: ${numPassingTests} passed, ${numPendingTests} skipped\n`);
  }

  onRunComplete() {
    process.stdout.write(`${this.#failed} of ${this.#runs} runs failed\n`);
  }
}
