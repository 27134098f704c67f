import 'reflect-metadata';
import { loadCatalog } from '#catalog';
import { expect, it } from '@jest/globals';
import { controllersOf } from '../built-document.js';
import { GatewayModule } from '../gateway.module.js';
import { ModelDocuments } from '../models/model-documents.js';
import type { ModelDocument } from '../models/model-summary.js';
import { serviceDocument } from '../openapi/service-document.js';
import { modelsText, modelText } from './model-texts.js';

const origin = 'https://router.example.com';
const { models } = await loadCatalog();
const documents = new ModelDocuments(serviceDocument(controllersOf(GatewayModule), origin));

it('lists every model, under each of its tasks', () => {
  const text = modelsText(models, origin);
  const listed = [
    ...text.matchAll(/^- \[.+\]\(https:\/\/router\.example\.com\/v2\/models\/(\S+)\/llms\.txt\): /gm),
  ];
  expect(new Set(listed.map(([, id]) => id))).toEqual(new Set(models.map(({ id }) => id)));
  const edits = modelsText(models, origin, 'edit');
  expect(edits.match(/^## .*/gm)).toEqual(['## edit']);
  expect(text).toContain(edits.slice(edits.indexOf('## edit')).trim());
  expect(modelsText([], origin)).toContain('There are none.');
});

it('has the example of each model as a call, and every field that it requires', () => {
  for (const model of models) {
    const document = JSON.parse(documents.of(model, 'v2').bytes.toString()) as ModelDocument;
    const text = modelText(model, document, undefined, origin);
    const [, body = ''] = /^ {2}-d '(.*)'$/m.exec(text) ?? [];
    const sent = document.paths[`/v2/models/${model.id}`]?.post.requestBody.content['application/json'];
    expect(JSON.parse(body.replaceAll(`'\\''`, "'"))).toEqual(sent?.example ?? {});
    const required = (model.input.required ?? []).filter(
      (name) => !Object.hasOwn(model.constants ?? {}, name),
    );
    for (const name of required)
      expect([model.id, text]).toEqual([model.id, expect.stringContaining(`- \`${name}\`: required `)]);
    expect(text.length).toBeLessThan(40_000);
  }
});
