import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { failOnLeftovers, temporaryFolder, waitFor } from '../../harness/index.js';
import { type Agent, agents } from './agent-programs.js';
import { AgentSystem, type Running } from './agent-system.js';
import { greeting, written } from './turns.js';

let system: AgentSystem;

beforeAll(async () => {
  system = await AgentSystem.start(
    '@anthropic-ai/claude-code@2.1.197',
    '@openai/codex@0.171.0',
    '@google/gemini-cli@0.61.0',
    'opencode-ai@1.18.33',
    '@continuedev/cli@1.5.47',
  );
});
afterAll(() => system.stop());

const run = (agent: Agent, prompt: string, model?: string, folder?: string): Running => {
  const { key } = system.caller;
  return system.run(
    {
      program: system.programAt(agent.program),
      args: agent.args(prompt, model),
      env: agent.env?.(key) ?? {},
      files: agent.files?.(key, model),
    },
    folder,
  );
};

describe.each(Object.entries(agents))('%s', (_name, agent) => {
  it('says hello with its default model and with every current one', async () => {
    for (const model of [undefined, ...agent.models])
      expect([model, await run(agent, 'Say hello.', model).ended()]).toEqual([
        model,
        expect.stringContaining(greeting),
      ]);
    expect(system.vendors.refused).toEqual([]);
  });

  it('calls its tool and writes a file', async () => {
    const folder = temporaryFolder('agent');
    const file = path.join(folder, 'note.txt');
    const said = await run(agent, `Write the file ${file}`, undefined, folder).ended();
    expect([said, existsSync(file) && readFileSync(file, 'utf8')]).toEqual([said, `${written}\n`]);
  });

  it('sends a long context', async () => {
    const words = 'The bridge is old. '.repeat(6000);
    expect(await run(agent, `${words} Say hello.`).ended()).toContain(greeting);
  });

  it('shows the vendor’s words if its context is too long', async () => {
    const said = await run(agent, 'Far too long').ended();
    expect(said).toMatch(/too long|context window|maximum number of tokens/i);
  });

  it('stops the vendor when it is interrupted', async () => {
    const [left, stalled] = [system.vendors.left, system.vendors.stalled];
    const running = run(agent, 'Never end');
    await waitFor(async () => Promise.resolve(system.vendors.stalled > stalled), {
      withinMs: 60_000,
      what: 'the call',
    });
    // A run continues if its caller leaves before the first event, which is on its way now.
    await pause(5_000);
    running.interrupt('SIGINT');
    await waitFor(async () => Promise.resolve(system.vendors.left > left), {
      withinMs: 30_000,
      what: 'the vendor to be left',
    });
    await running.ended();
    await system.router.ended(system.caller);
  });
});

it('costs what the vendors’ prices say, and little of it is held', async () => {
  const [sums] = await system.router.sql<{ runs: string; billed: string }>(
    `SELECT count(*) AS runs, sum(billed_micros) AS billed FROM run WHERE workspace_id = $1 AND outcome = 'succeeded'`,
    [system.caller.workspaceId],
  );
  expect(Number(sums?.runs)).toBeGreaterThan(40);
  expect(Number(sums?.billed)).toBeLessThan(5_000_000);
});

failOnLeftovers();
