import { writeFileSync } from 'node:fs';
import path from 'node:path';

/** Writes each failure to the file that SPEC_FAILURES names as soon as its file ends, because Jest exits on the first. */
export default class Failures {
  #failed = [];
  #rootDir;

  constructor({ rootDir }) {
    this.#rootDir = rootDir;
  }

  onTestFileResult({ path: file }, { testResults, failureMessage }) {
    if (!failureMessage) return;
    const test = testResults.find(({ status }) => status === 'failed')?.fullName ?? 'the file did not load';
    this.#failed.push({ file: path.relative(this.#rootDir, file), test, message: failureMessage });
    writeFileSync(process.env.SPEC_FAILURES, JSON.stringify(this.#failed));
  }
}
