import type { ProviderAdapter, Run } from '../contract.js';
import { declaredProvider } from '../declared/declared.js';

/** The adapter of a valid declaration. */
export function adapterOf(row: object): ProviderAdapter {
  const declared = declaredProvider(row);
  if (!declared.definition) throw new Error(JSON.stringify(declared.problems));
  return declared.definition.create(declared.definition.defaultBase, {});
}

export const run: Run = {
  runId: '0197c2a4-5b1e-7c3d-8e9f-0a1b2c3d4e5f',
  model: 'acme/paint',
  upstream: { path: 'paint/fast' },
  body: new TextEncoder().encode('{"prompt":"a cat"}'),
};

export const reply = (body: string, status = 200, type = 'application/json') => ({
  status,
  headers: { 'content-type': type },
  body: new TextEncoder().encode(body),
});
