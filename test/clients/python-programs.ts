import { spawnSync } from 'node:child_process';

/** Programs of Python that tests use if they are installed. With NO_SKIP=1 it is a failure if one is missing. */
function found(name: string, candidates: readonly string[], words: readonly string[]): string | undefined {
  const program = candidates.find((candidate) => spawnSync(candidate, words).status === 0);
  if (program === undefined) {
    if (process.env['NO_SKIP'] === '1') throw new Error(`NO_SKIP=1, but there is no ${name}`);
    process.stderr.write(`skipping tests of the Python client: there is no ${name}\n`);
  }
  return program;
}

/** Debian's own Python sees Debian's packages, although another one may be first on the PATH. */
const interpreters = ['python3', '/usr/bin/python3'];
const needs = 'import httpx, sys; sys.exit(sys.version_info < (3, 10))';

export const pythonWithHttpx = () => found('Python 3.10 or newer with httpx', interpreters, ['-c', needs]);

export const mypy = () => found('mypy', ['mypy', '/usr/bin/mypy'], ['--version']);
