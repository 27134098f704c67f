import { beforeAll, describe, expect, it } from '@jest/globals';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { filesBelow, pathOf, textOf } from '../documents/checkout-files.js';
import { failOnLeftovers, sharedSystem, transports } from '../harness/index.js';
import { pythonWithHttpx } from './python-programs.js';
import { tinyImage } from './tiny-image.js';

const [transport = 'postgres'] = transports();
const python = pythonWithHttpx();
const folder = 'test/clients/python';

/** The tests of each module, by their class. A class that others inherit has no tests of its own. */
const tests = filesBelow(folder)
  .filter((file) => /\/test_\w+\.py$/.test(file))
  .flatMap((file) => {
    const classes = textOf(file)
      .split(/^class /m)
      .slice(1)
      .map((text) => ({
        name: /^\w+/.exec(text)?.[0] ?? '',
        bases: [...(/^\w+\((.*)\):/.exec(text)?.[1]?.split(', ') ?? [])],
        methods: [...text.matchAll(/^ {4}def (test_\w+)/gm)].map(([, method = '']) => method),
      }));
    return classes
      .filter(({ bases }) => bases.some((base) => base.endsWith('Test') || base.endsWith('TestCase')))
      .map(({ name, bases, methods }) => {
        const inherited = classes.filter((each) => bases.includes(each.name));
        const module = file.slice(folder.length + 1, -'.py'.length);
        return { module, name, methods: [...methods, ...inherited.flatMap((each) => each.methods)] };
      });
  });

(python === undefined ? describe.skip : describe)('the Python client', () => {
  const system = sharedSystem(transport);
  /** The result of each test, such as `ok`, by its module, class and name. */
  const results = new Map<string, string>();
  let output = '';

  beforeAll(async () => {
    const { key } = await system.caller({}, undefined, ['catalog', 'run', 'requests', 'usage', 'manage']);
    // The routers wait most of the time, so their tests run side by side.
    const runs = tests.map(async ({ module, name }) => {
      const words = ['-W', 'error::ResourceWarning', '-m', 'unittest', '-v', `${module}.${name}`];
      const { stderr } = await promisify(execFile)(python ?? '', words, {
        cwd: pathOf(folder),
        env: {
          ...process.env,
          PYTHONPATH: pathOf('libs/client/dist/python'),
          PYTHONDONTWRITEBYTECODE: '1',
          BASE_URL: system.gateways[0]?.url ?? '',
          API_KEY: key,
          IMAGE: tinyImage.toString('base64'),
        },
        timeout: 120_000,
      }).catch((error: { stderr: string }) => error);
      output += stderr;
      for (const [, test = '', result = ''] of stderr.matchAll(
        /^(test_\w+) \(.*?\)(?:\n.*)? \.\.\. (\w+)$/gm,
      ))
        results.set(`${name}.${test}`, result);
    });
    await Promise.all(runs);
  }, 150_000);

  describe.each(tests)('$module $name', ({ name, methods }) => {
    it.each(methods)('%s', (method) => {
      const result = results.get(`${name}.${method}`);
      if (result !== 'ok') throw new Error(`${name}.${method}: ${result ?? 'did not run'}\n${output}`);
      expect(result).toBe('ok');
    });
  });
});

/** The methods that a router has of its own or from the class of its methods with models. */
function methodsOf(router: string): Set<string> {
  const classes = ['_model_calls', '_router'].flatMap((module) =>
    textOf(`libs/client/python/model_router/${module}.py`)
      .split(/^class /m)
      .slice(1),
  );
  return new Set(
    classes
      .filter(
        (text) => text.startsWith(router.replace('Router', 'ModelCalls:')) || text.startsWith(`${router}(`),
      )
      .flatMap((text) => [...text.matchAll(/^ {4}(?:async )?def ([a-z]\w*)/gm)])
      .map(([, method = '']) => method),
  );
}

it('both routers have the same methods, and each method has a test of both', () => {
  const methods = methodsOf('Router');
  expect(methodsOf('AsyncRouter')).toEqual(methods);
  expect(methods.size).toBeGreaterThan(13);
  const names: Record<string, string> = {
    close: 'with_statement',
    stream: 'events_come_as_they_are_sent',
  };
  for (const router of ['Router', 'AsyncRouter']) {
    const tested = tests.filter(({ name }) => name.endsWith(`Of${router}`)).flatMap((each) => each.methods);
    const missing = [...methods].filter((method) => {
      const start = `test_${names[method] ?? method}`;
      return !tested.some((test) => test === start || test.startsWith(`${start}_`));
    });
    expect([router, missing]).toEqual([router, []]);
  }
});

failOnLeftovers();
