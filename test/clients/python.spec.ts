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

/** Methods that both routers have, and the tests of both that call them. */
it('each method is tested for both routers', () => {
  const methods = (router: string) => {
    const texts = ['_model_calls', '_router'].map((module) =>
      textOf(`libs/client/python/model_router/${module}.py`),
    );
    const classes = texts.flatMap((text) => text.split(/^class /m).slice(1));
    return new Set(
      classes
        .filter((text) => text.startsWith(`${router}Calls:`) || text.startsWith(`${router}Router(`))
        .flatMap((text) => [...text.matchAll(/^ {4}(?:async )?def ([a-z]\w*)/gm)])
        .map(([, method = '']) => method),
    );
  };
  const synchronous = new Set([...methods('Model'), ...methods('')]);
  const asynchronous = new Set([...methods('AsyncModel'), ...methods('Async')]);
  expect(asynchronous).toEqual(synchronous);
  expect(synchronous.size).toBeGreaterThan(13);
  const tested = tests
    .filter(({ name }) => /^(Methods|Streams)Of/.test(name))
    .flatMap((each) => each.methods);
  const cells = tested.map((method) => method.replace('test_events_come_as_they_are_sent', 'test_stream'));
  for (const method of synchronous) {
    const own = method === 'close' ? 'with_statement' : method;
    const of = cells.filter((cell) => cell === `test_${own}` || cell.startsWith(`test_${own}_`));
    expect([method, of.length >= 2]).toEqual([method, true]);
  }
});

failOnLeftovers();
