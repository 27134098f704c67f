import { describe, expect, it } from '@jest/globals';
import { type RouteGateway, sharedGateway } from '../gateways.js';
import { bearer, generations } from '../generations.js';

const detailOf = async (gateway: RouteGateway, route: string) => {
  const { caller, workspace } = await gateway.caller();
  const answer = await caller.call('GET', route, { headers: await bearer(workspace.id) });
  expect(answer.status).toBe(200);
  return { entry: answer.json(), caller, workspace };
};

describe('with a public https address', () => {
  const gateway = sharedGateway('small');

  it.each(generations)(
    '%s entries link to the document of their generation, which exists',
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

  it.each(generations)('%s entries without an authored schema have no link', async (generation) => {
    const { entry } = await detailOf(gateway(), `/${generation}/models/bfl/open`);
    expect(Object.keys(entry)).toEqual(['id', 'provider', 'model', 'billing']);
  });
});

describe('without one', () => {
  const gateway = sharedGateway();

  it.each(generations)('%s entries have no link', async (generation) => {
    const { entry } = await detailOf(gateway(), `/${generation}/models/bfl/flux-2-pro`);
    expect(Object.keys(entry)).toEqual(['id', 'provider', 'model', 'billing']);
  });
});
