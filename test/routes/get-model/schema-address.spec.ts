import { afterAll, describe, expect, it } from '@jest/globals';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { gatewayForFile } from '../gateways.js';
import { bearer, generations } from '../generations.js';

const directory = mkdtempSync(path.join(os.tmpdir(), 'model-router-rows-'));
writeFileSync(
  path.join(directory, 'open.yaml'),
  'id: bfl/open\nupstream: { path: flux-2-pro }\ncharges_on_policy_rejection: no\nprice: { call: 1 }\n',
);
afterAll(() => rmSync(directory, { recursive: true }));

const detailOf = async (gateway: ReturnType<ReturnType<typeof gatewayForFile>>, route: string) => {
  const { caller, workspace } = await gateway.caller();
  const answer = await caller.call('GET', route, { headers: await bearer(workspace.id) });
  expect(answer.status).toBe(200);
  return { entry: answer.json(), caller, workspace };
};

describe('with an https address of its own', () => {
  const gateway = gatewayForFile({ PUBLIC_BASE_URL: 'https://router.example/', CATALOG_DIR: directory });

  it.each(generations)(
    '%s entries point to the document of their own generation, which is there',
    async (generation) => {
      const route = `/${generation}/models/bfl/flux-2-pro`;
      const { entry, caller, workspace } = await detailOf(gateway(), route);
      const address = String(entry['input_schema_url']);
      expect(address).toBe(`https://router.example${route}/openapi.json`);
      const document = await caller.call('GET', new URL(address).pathname, {
        headers: await bearer(workspace.id),
      });
      expect(document.status).toBe(200);
      expect(document.json()['x-service-input-schema-authored']).toBe(true);
      expect(Object.keys(document.json()['paths'] as object)).toEqual([route]);
    },
  );

  it.each(generations)('%s entries without an authored schema have none', async (generation) => {
    const { entry } = await detailOf(gateway(), `/${generation}/models/bfl/open`);
    expect(Object.keys(entry)).toEqual(['id', 'provider', 'model', 'billing']);
  });
});

describe.each(['http://router.example', undefined])('with the address %s', (address) => {
  const gateway = gatewayForFile(address === undefined ? {} : { PUBLIC_BASE_URL: address });

  it.each(generations)('%s entries have none', async (generation) => {
    const { entry } = await detailOf(gateway(), `/${generation}/models/bfl/flux-2-pro`);
    expect(Object.keys(entry)).toEqual(['id', 'provider', 'model', 'billing']);
  });
});
