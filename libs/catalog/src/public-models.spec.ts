import { readFileSync } from 'node:fs';
import path from 'node:path';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { inputErrors } from './check-input.js';
import { type Catalog, loadCatalog, type Model } from './index.js';

/** The facts that hosted routers publish about a model. Written by scripts/public-models.mjs. */
interface PublicModel {
  id: string;
  /** The model for which this one is another server. */
  servesAs?: string;
  required: string[];
  properties: string[];
  enums?: Record<string, unknown[]>;
  inputs?: Record<string, unknown>[];
}

const models = readFileSync(path.join(import.meta.dirname, 'testing/public-models.jsonl'), 'utf8')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line) as PublicModel);

/** Intended differences, by reason. A difference without a reason fails, and so does an unused reason. */
const refusedMembers = {
  'the provider would call elsewhere': ['callback_url', 'webhookUrl', 'webhook_secret', 'webhook_url'],
  'the provider would store elsewhere': ['output'],
};
const requiredHere = {
  'the provider rejects an input without it': [
    'byteplus/seedream-4-0-250828 prompt',
    'byteplus/seedream-4-5-251128 prompt',
    'kling/kling-v2-master prompt',
    'luma/photon-1 prompt',
    'luma/photon-flash-1 prompt',
    'openrouter/chat-completions model',
    'veo/veo-3.1-fast-generate-001 instances',
    'veo/veo-3.1-generate-001 instances',
    'veo/veo-3.1-lite-generate-001 instances',
  ],
  'the price depends on it': [
    'meshy/meshy-5 mode',
    'meshy/meshy-6 mode',
    'meshy/meshy-7 mode',
    'meshy/meshy-7.1 mode',
  ],
};
const refusedValues = {
  'the path names the model': ['meshy/meshy-6 ai_model'],
  'a tier has its own price': ['openrouter/chat-completions service_tier'],
  'the provider supports the value only for other models with the same schema': [
    'byteplus/seedance-1-0-pro-250528 resolution',
    'byteplus/seedance-1-0-pro-fast-251015 resolution',
    'byteplus/seedance-1-5-pro-251215 resolution',
    'kling/kling-v2-master duration',
    'luma_2/uni-1 type',
    'luma_2/uni-1-max type',
    'runway/gen4_turbo ratio',
  ],
};
const named = (reasons: Record<string, string[]>) => Object.values(reasons).flat().sort();
const distinct = (found: string[]) => [...new Set(found)].sort();

describe('the models that hosted routers publish', () => {
  let catalog: Catalog;
  beforeAll(async () => {
    catalog = await loadCatalog();
  });

  /** The differences of all models that have not ended. */
  const differences = (of: (model: Model, published: PublicModel) => string[]) =>
    distinct(
      models.flatMap((published) => {
        const model = catalog.find(published.id);
        return model === undefined ? [] : of(model, published);
      }),
    );

  it('exist here under their ids, or have ended', () => {
    const others = models.filter(({ id }) => catalog.find(id)?.id !== id).map(({ id }) => id);
    const gone = catalog.ended.map(({ id }) => id);
    expect(others.filter((id) => !gone.includes(id))).toEqual([]);
  });

  it('list their other servers', () => {
    const served = models.flatMap(({ id, servesAs }) => (servesAs === undefined ? [] : [{ id, servesAs }]));
    expect(served.length).toBe(26);
    for (const { id, servesAs } of served) expect(catalog.find(servesAs)?.servers).toContain(id);
  });

  it.each(models.flatMap(({ id, inputs = [] }) => inputs.map((input) => [id, input] as const)))(
    'accept the published input, which does not name the model: %s',
    (id, { model: _name, ...input }) => {
      const model = catalog.find(id);
      expect(model && inputErrors(model, input)).toEqual(model && []);
    },
  );

  it('have no member that is rejected by its name, except callbacks', () => {
    const refused = differences((model, { properties }) =>
      properties.filter((name) =>
        inputErrors(model, { [name]: 'https://caller.example' }).some(
          ({ loc, type }) => loc[1] === name && type === 'extra_forbidden',
        ),
      ),
    );
    expect(refused).toEqual(named(refusedMembers));
  });

  // If no members are published, it is unknown which are required.
  it('require only members that are also required there', () => {
    const required = differences(({ id, input }, published) =>
      published.properties.length === 0
        ? []
        : (input.required ?? [])
            .filter((name) => !published.required.includes(name))
            .map((name) => `${id} ${name}`),
    );
    expect(required).toEqual(named(requiredHere));
  });

  it('accept all published enum values', () => {
    const refused = differences((model, { id, enums = {} }) =>
      Object.entries(enums)
        .filter(([name, values]) =>
          values.some((value) => inputErrors(model, { [name]: value }).some(({ loc }) => loc[1] === name)),
        )
        .map(([name]) => `${id} ${name}`),
    );
    expect(refused).toEqual(named(refusedValues));
  });
});
