import { expect, it } from '@jest/globals';
import { sharedGateway } from '../gateways.js';
import { anthropic, gemini, openai, type VendorSide } from './vendor-calls.js';

/** Calls wait half a second for their runs, which no worker takes. */
const gateway = sharedGateway('small');

/** Names that SDKs' examples, frameworks and coding agents send by default. */
const names: [VendorSide, string[]][] = [
  [
    openai,
    [
      'gpt-4o-mini',
      'gpt-4o-mini-2024-07-18',
      'gpt-4o',
      'gpt-4o-2024-08-06',
      'gpt-4o-2024-11-20',
      'gpt-4.1',
      'gpt-4.1-2025-04-14',
      'gpt-4.1-mini',
      'gpt-4.1-nano',
      'gpt-5',
      'gpt-5-2025-08-07',
      'gpt-5-mini',
      'gpt-5-nano',
      'gpt-5.4-nano',
      'gpt-5.5',
      'gpt-5.6-sol',
      'gpt-6-astra',
      'gpt-6.1-sol',
      'gpt-6.1-sol-2026-09-29',
      'gpt-6.1-terra',
      'gpt-6.2-sol',
      'gpt-6.2-astra',
      'o1',
      'o3',
      'o3-2025-04-16',
      'o4-mini',
      'openai/gpt-5.5',
    ],
  ],
  [
    anthropic,
    [
      'claude-haiku-5-5',
      'claude-haiku-4-5',
      'claude-haiku-4-5-20251001',
      'claude-sonnet-4-5',
      'claude-sonnet-4-5-20250929',
      'claude-opus-4-5',
      'claude-opus-4-5-20251101',
      'claude-sonnet-4-6',
      'claude-opus-4-6',
      'claude-opus-5',
      'claude-sonnet-5',
      'anthropic/claude-opus-5',
    ],
  ],
  [
    gemini,
    [
      'gemini-2.5-flash',
      'gemini-2.5-flash-lite',
      'gemini-2.5-pro',
      'gemini-3.1-flash-lite',
      'gemini-3.5-flash',
      'gemini-4-argon',
      'gemini-4-hydrogen',
      'gemini-3.5-flash-lite',
      'gemini-3.6-flash',
      'gemini-3.7-flash',
      'gemini-3.8-flash',
    ],
  ],
];

it.concurrent.each(names.flatMap(([side, all]) => all.map((name) => ({ side, name }))))(
  '$side.base knows $name, and a call with it begins a run that keeps the name',
  async ({ side, name }) => {
    const { caller, workspace } = await gateway().caller();
    const headers = { 'content-type': 'application/json', ...side.credential(caller.key) };
    const listed = await fetch(`${gateway().url}${side.base}/models/${encodeURIComponent(name)}`, {
      headers,
    });
    expect(listed.status).toBe(200);
    const { path, body } = side.call(name);
    const answering = fetch(`${gateway().url}${path}`, { method: 'POST', headers, body });
    const run = await gateway().admittedRun(workspace);
    const stored = (await gateway().storedInput(run)).bytes.toString();
    // The provider does not know our own ids.
    expect(stored).toBe(name.includes('/') ? body.replace(`"${name}"`, `"${side.model}"`) : body);
    expect((await answering).status).toBe(504);
  },
);
