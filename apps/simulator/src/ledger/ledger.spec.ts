import { appendFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { startWithCaller } from '../testing/caller.js';

let folder: string;
beforeEach(() => void (folder = mkdtempSync(join(tmpdir(), 'simulator-'))));
afterEach(() => rmSync(folder, { recursive: true }));

describe('the ledger file', () => {
  it('contains a submission before it is answered', async () => {
    const ledgerFile = join(folder, 'deep', 'ledger.jsonl');
    const caller = await startWithCaller({ ledgerFile });
    const { json } = await caller.bfl({ prompt: 'a [[sim:tag=t]]' });
    const line = JSON.parse(readFileSync(ledgerFile, 'utf8')) as Record<string, unknown>;
    expect(line).toMatchObject({ id: json['id'], tag: 't' });
    await caller.simulator.close();
  });

  it('restores generations, controls and cancellations after a restart, and skips a torn line', async () => {
    const ledgerFile = join(folder, 'ledger.jsonl');
    const before = await startWithCaller({ ledgerFile, defaultMs: 0 });
    await before.fal({ prompt: 'gone before the reset' });
    await before.admin('/reset', {});
    await before.bfl({ prompt: 'one [[sim:policy_output]]' });
    const { json } = await before.fal({ prompt: 'two [[sim:takes=60000]]' });
    await before.falCall(json['cancel_url'], 'PUT');
    const entries = await before.entries();
    await before.simulator.close();
    appendFileSync(ledgerFile, '{"provider":"fal","id":"');

    const after = await startWithCaller({ ledgerFile, defaultMs: 0 });
    expect(await after.entries()).toEqual(entries);
    await after.fal({ prompt: 'three' });
    expect(await after.entries()).toMatchObject([
      { order: 1, state: 'failed' },
      { order: 2, state: 'canceled' },
      { order: 3 },
    ]);
    await after.simulator.close();

    const again = await startWithCaller({ ledgerFile, defaultMs: 0 });
    expect(await again.entries()).toHaveLength(3);
    await again.simulator.close();
  });
});
