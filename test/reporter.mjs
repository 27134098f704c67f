import path from 'node:path';

/** Prints one line per file with its time, failures in full, and a final line with the counts. */
export default class FileReporter {
  #rootDir;

  constructor({ rootDir }) {
    this.#rootDir = rootDir;
  }

  onTestFileResult(
    { path: file },
    { perfStats, numPassingTests, numFailingTests, numPendingTests, failureMessage },
  ) {
    const failed = failureMessage !== undefined && failureMessage !== null;
    const counts = [
      `${numPassingTests} passed`,
      numFailingTests > 0 && `${numFailingTests} failed`,
      numPendingTests > 0 && `${numPendingTests} skipped`,
    ].filter(Boolean);
    const seconds = ((perfStats.end - perfStats.start) / 1000).toFixed(1).padStart(7);
    const name = path.relative(this.#rootDir, file);
    say(`${failed ? 'FAIL' : 'ok  '} ${seconds} s  ${name}  (${counts.join(', ')})`);
    if (failed) say(failureMessage);
  }

  onRunComplete(
    _contexts,
    { startTime, numPassedTests, numFailedTests, numPendingTests, numRuntimeErrorTestSuites },
  ) {
    const broken = numRuntimeErrorTestSuites > 0 ? `, ${numRuntimeErrorTestSuites} files did not load` : '';
    const skipped = numPendingTests > 0 ? `, ${numPendingTests} skipped` : '';
    const seconds = Math.round((Date.now() - startTime) / 1000);
    say(`${numPassedTests} passed, ${numFailedTests} failed${skipped}${broken} in ${seconds} s`);
  }
}

const say = (line) => process.stdout.write(`${line}\n`);
