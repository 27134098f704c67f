import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { pathOf, textOf } from '../../documents/checkout-files.js';
import { failOnLeftovers } from '../../harness/index.js';
import { AgentSystem, at } from './agent-system.js';
import { finished, greeting, written } from './turns.js';

let system: AgentSystem;
let models: string;

beforeAll(async () => {
  system = await AgentSystem.start(
    '@langchain/core@1.4.0',
    '@langchain/openai@1.6.0',
    '@langchain/anthropic@1.5.11',
    '@langchain/google-genai@2.3.2',
  );
  models = path.join(system.programs.folder, 'models.mjs');
  writeFileSync(models, exampleOfGuide() + inChat);
});
afterAll(() => system.stop());

/** Chat Completions, which LangChain calls by default. */
const inChat = `
const configuration = { baseURL: BASE_URL + '/openai/v1' };
export const gptInChat = new ChatOpenAI({ model: 'gpt-4.1', apiKey, configuration });
`;

/** The example of the guide, as a module that exports its models. */
function exampleOfGuide(): string {
  const examples = textOf('docs/guide/agents.md').matchAll(/(?<=\n```js\n)[^]*?(?=\n```)/g);
  const [example = ''] = [...examples].map(([text]) => text).filter((text) => text.includes('@langchain/'));
  return example.replaceAll(/^const (?=\w+ = new)/gm, 'export const ');
}

it.each(['gpt', 'gptInChat', 'claude', 'gemini'])(
  'LangChain’s %s answers, calls a tool and shows the vendor’s words, with and without a stream',
  async (model) => {
    const said = await system
      .run({
        program: process.execPath,
        args: [pathOf('test/operations/agents/langchain.mjs'), models, model],
        env: { BASE_URL: at(''), API_KEY: system.caller.key },
      })
      .ended();
    const lines = said.split('\n').filter((line) => line.startsWith('{'));
    expect([said, lines.map((line) => JSON.parse(line) as unknown)]).toEqual([
      said,
      ['invoke', 'stream'].map((way) => ({
        way,
        greeting,
        tokens: expect.objectContaining({ output_tokens: expect.any(Number) }),
        tool: { name: 'write_file', args: { file_path: '/tmp/note.txt', content: `${written}\n` } },
        answer: finished,
        refused: expect.stringMatching(/too long|context window|maximum number of tokens/),
      })),
    ]);
    expect(system.vendors.refused).toEqual([]);
  },
);

failOnLeftovers();
