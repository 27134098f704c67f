import { describe, expect, it } from '@jest/globals';
import { inputErrors } from './check-input.js';
import { readModel } from './model.js';
import { modelOfRow } from './testing/model-of-row.js';

const row = {
  id: 'a/b',
  upstream: { path: 'b' },
  charges_on_policy_rejection: 'no',
  price: { usd: 0.01 },
  constants: { model: 'b-1', version: 2 },
  refused_fields: ['external_id', '/parameters/target', '/parts/*/target'],
};
const authored = {
  ...row,
  input: {
    type: 'object',
    required: ['prompt'],
    properties: {
      prompt: { type: 'string' },
      parameters: { type: 'object' },
      model: { description: 'Which.' },
    },
  },
};
const models = [
  ['authored', modelOfRow(authored)],
  ['any', modelOfRow(row)],
] as const;

describe.each(models)('the input of a model (%s)', (_, model) => {
  const refusals = (body: object) =>
    inputErrors(model, { prompt: 'a cat', ...body }).map(({ loc, type }) => [loc.slice(1).join('.'), type]);

  it('is open: undescribed fields pass at every level', () => {
    expect(refusals({ tomorrow: 1, parameters: { tomorrow: [{}] }, sync_mode: true })).toEqual([]);
  });

  it('accepts the members that name the model with their own values, or their absence', () => {
    expect(refusals({ model: 'b-1' })).toEqual([]);
    expect(refusals({ model: 'b-2', version: '2' })).toEqual([
      ['model', 'literal_error'],
      ['version', 'literal_error'],
    ]);
  });

  it.each([
    'webhook_url',
    'webHook',
    'CALLBACK_URL',
    'callback',
    'pubsubTopic',
    'notify',
    'output_storage_uri',
  ])('rejects %s unless its value is empty', (name) => {
    for (const value of ['https://caller.example', ' ', { a: 1 }, ['a'], 0, true]) {
      expect(refusals({ [name]: value })).toEqual([[name, 'extra_forbidden']]);
    }
    expect([null, false, '', [], {}].flatMap((value) => refusals({ [name]: value }))).toEqual([]);
  });

  it('rejects the fields that the row names, also nested ones', () => {
    const body = { external_id: 1, parameters: { target: 1 }, parts: [{}, { target: 1 }], target: 1 };
    const places = refusals(body).map(([place]) => place);
    expect(new Set(places)).toEqual(new Set(['external_id', 'parameters.target', 'parts.1.target']));
    expect(refusals({ external_id: null, parameters: { target: '' } })).toEqual([]);
  });

  it('describes the members that name the model, which are never required', () => {
    expect(model.input.properties).toMatchObject({ model: { const: 'b-1' }, version: { const: 2 } });
    expect(model.input.required ?? []).not.toContain('model');
  });
});

describe('a row', () => {
  it('cannot require a member that the router adds', () => {
    const read = readModel({ ...authored, input: { ...authored.input, required: ['prompt', 'model'] } });
    expect(read).toMatchObject({ problems: [{ path: ['input', 'required'] }] });
  });
});
