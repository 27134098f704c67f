import { describe } from '@jest/globals';
import { type Program, programPath } from './programs.js';

/**
 * The programs that a test file needs, and the `describe` to use. If a program is unavailable, the tests are
 * skipped with a message; with NO_SKIP=1 that is a failure.
 */
export async function withTools<Name extends Program>(
  ...names: Name[]
): Promise<{ describeWith: typeof describe | typeof describe.skip; tools: Record<Name, string> }> {
  const tools = {} as Record<Name, string>;
  try {
    for (const name of names) tools[name] = await programPath(name);
    return { describeWith: describe, tools };
  } catch (error) {
    const why = `${names.join(' and ')} not available: ${error instanceof Error ? error.message : String(error)}`;
    if (process.env['NO_SKIP'] === '1') throw new Error(`NO_SKIP=1, but ${why}`, { cause: error });
    process.stderr.write(`Tests are skipped: ${why}\n`);
    return { describeWith: describe.skip, tools };
  }
}
