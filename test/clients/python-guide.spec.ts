import { describe, expect, it } from '@jest/globals';
import { execFile, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { promisify } from 'node:util';
import { pathOf, textOf } from '../documents/checkout-files.js';
import { failOnLeftovers, ScriptedServer } from '../harness/index.js';
import { pythonWithHttpx } from './python-programs.js';

const execute = promisify(execFile);
const python = pythonWithHttpx();
const env = {
  ...process.env,
  PYTHONPATH: pathOf('libs/client/dist/python'),
  PYTHONDONTWRITEBYTECODE: '1',
};

const snippets = [...textOf('docs/guide/python.md').matchAll(/\n```python\n([^]*?)\n```/g)].map(
  ([, text = '']) => text,
);

function snippetWith(part: string): string {
  const found = snippets.filter((text) => text.includes(part));
  expect(found).toHaveLength(1);
  return found[0] ?? '';
}

const frameworks = ['fastapi', 'flask', 'django'];
const installed = frameworks.filter(
  (framework) => python !== undefined && spawnSync(python, ['-c', `import ${framework}`]).status === 0,
);
if (installed.length < frameworks.length) {
  if (process.env['NO_SKIP'] === '1')
    throw new Error(`NO_SKIP=1, but only these are installed: ${installed.join()}`);
  process.stderr.write(`testing the webhooks of these frameworks only: ${installed.join()}\n`);
}

(installed.length > 0 ? describe : describe.skip)('the snippet for webhooks', () => {
  it.each(installed)(
    'of %s accepts a signed call and rejects others',
    async (framework) => {
      const SNIPPET = snippetWith(`from ${framework}`);
      const words = [pathOf('test/clients/python/frameworks.py'), framework];
      const { stdout } = await execute(python ?? '', words, { env: { ...env, SNIPPET }, timeout: 60_000 });
      expect(stdout).toBe('r1 succeeded\n204 400 400\n');
    },
    70_000,
  );
});

const delta = '{"delta": {"type": "text_delta", "text": "red"}}';

(python === undefined ? describe.skip : describe)('the snippet for streams', () => {
  it.each([
    ['each event', 'print(event.event', `content_block_delta ${delta}\nmessage_stop {}\n`],
    ['each text', 'json.loads(event.data)', 'red'],
  ])(
    'prints %s before the next one is sent',
    async (_, part, expected) => {
      let answer: ServerResponse | undefined;
      const server = await ScriptedServer.start((_call, response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.write(`event: content_block_delta\ndata: ${delta}\n\n`);
        answer = response;
      });
      try {
        const program = execFile(python ?? '', ['-u', '-c', snippetWith(part)], {
          env: { ...env, BASE_URL: server.url, API_KEY: 'x' },
          timeout: 60_000,
        });
        let shown = '';
        program.stdout?.on('data', (text: string) => {
          shown += text;
          if (shown.includes('red')) answer?.end('event: message_stop\ndata: {}\n\n');
        });
        await once(program, 'close');
        expect(shown).toBe(expected);
      } finally {
        await server.stop();
      }
    },
    70_000,
  );
});

failOnLeftovers();
