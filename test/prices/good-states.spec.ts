import { describe, expect, it } from '@jest/globals';
import { loadCatalog, type Model } from '#catalog';
import { type Asked, type Handle, type HttpReply, providerList, readReply } from '#providers';
import { isJsonType, type Json, pointerSegments } from '#schemas';
import { findAssets } from '../../apps/worker/src/bytes/found-assets.js';
import { fixtureFolders, openFixtures, replyOf } from '../../libs/providers/src/testing/fixtures.js';

const { models } = await loadCatalog();
const link = 'https://files.example/a';
const empties: readonly Json[] = [null, [], {}, false, ''];

/** The reply with the result of a run, by the fixtures of the row's protocol, and the call that it answers. */
function resultOf({ id, provider, upstream, assetPointers: assets }: Model) {
  const definition = providerList.find(({ name }) => name === provider);
  const fixtures = fixtureFolders(provider)
    .map(openFixtures)
    .find(({ facts }) => facts.run.upstream['protocol'] === upstream['protocol']);
  if (!definition || !fixtures) throw new Error(`${id} has no fixtures`);
  const { facts, reply } = fixtures;
  const adapter = definition.create(definition.defaultBase, facts.settings ?? {});
  const row = { reported: [], assets };
  const run = { runId: 'r', model: id, upstream };
  let asked: Asked = { phase: 'submit', run, ...row };
  let name = 'submit-accepted';
  for (const step of ['poll', 'fetch'] as const) {
    if (facts.result === 'submit' || name.startsWith(facts.result)) break;
    const { outcome } = readReply(adapter, asked, reply(name));
    if (!('handle' in outcome)) throw new Error(`${id}: ${name} is ${outcome.kind}`);
    asked = { phase: 'resume', handle: JSON.parse(JSON.stringify(outcome.handle)) as Handle, ...row };
    name = `${step}-succeeded`;
  }
  const read = (given: HttpReply) => ({ ...readReply(adapter, asked, given), body: given.body });
  return { reply: reply(name), read };
}

/** A copy with every link, data: URL and base64 text blank. */
function withoutFiles(json: Json): Json {
  if (typeof json === 'string')
    return /^(https?:|data:)|^[\w+/]{8,}={0,2}$/.test(json) && !isWord.test(json) ? '' : json;
  if (Array.isArray(json)) return json.map(withoutFiles);
  if (typeof json !== 'object' || json === null) return json;
  return Object.fromEntries(
    Object.entries(json).map(([name, value]) => [
      name,
      inline.has(name) && typeof value === 'string' ? '' : withoutFiles(value),
    ]),
  );
}

const isWord = /^[a-z_-]+$|^[A-Z_-]+$|^\d|^[A-Z][a-z]+$/;
const inline = new Set(['audio', 'data', 'b64_json', 'bytesBase64Encoded', 'text']);

/** A copy with the value at each of the places, below lists of one element. `undefined` removes the member. */
const withValues = (json: Json, places: readonly string[], value: Json | undefined): Json =>
  places.reduce<Json>((whole, place) => put(whole, pointerSegments(place), value), json);

function put(json: Json | undefined, [name, ...rest]: readonly string[], value: Json | undefined): Json {
  if (name === undefined) throw new Error('no place');
  if (name === '*') {
    const inner = rest.length === 0 ? value : put((json as Json[] | undefined)?.[0], rest, value);
    return inner === undefined ? [] : [inner];
  }
  const object = typeof json === 'object' && !Array.isArray(json) ? json : {};
  const { [name]: own, ...others } = object ?? {};
  const inner = rest.length === 0 ? value : put(own, rest, value);
  return inner === undefined ? others : { ...others, [name]: inner };
}

const replying = ({ status, headers }: HttpReply, json: Json): HttpReply =>
  replyOf(status, JSON.stringify(json), headers);

const isFile = ({ output }: Model) => output !== undefined && !isJsonType(output.mediaType);

describe('a good final state is a result', () => {
  it.each(models.filter((row) => !isFile(row)).map((row) => [row.id, row] as const))('of %s', (_id, row) => {
    const { reply, read } = resultOf(row);
    const places = row.assetPointers;
    const full = JSON.parse(Buffer.from(reply.body).toString()) as Json;
    const blank = withoutFiles(full);
    const bare =
      places.length > 0 ? [undefined, ...empties].map((value) => withValues(blank, places, value)) : [];
    for (const json of bare) {
      const given = replying(reply, json);
      const { outcome, body } = read(given);
      // The bytes are delivered, counted, and cost nothing but what the provider reports.
      expect([json, outcome]).toMatchObject([
        json,
        { kind: 'succeeded', lacksFiles: true, surprise: { kind: 'no_files' } },
      ]);
      expect(outcome.kind === 'succeeded' && outcome.output.body).toBe(body);
      expect(findAssets(body, places)).toEqual([]);
    }
    const given = replying(reply, withValues(blank, places, link));
    const { outcome, body } = read(places.length > 0 ? given : reply);
    expect(outcome).toEqual({
      kind: 'succeeded',
      output: expect.objectContaining({ body: expect.anything() }),
    });
    expect(findAssets(body, places).length > 0).toBe(places.length > 0);
  });

  it.each(models.filter(isFile).map((row) => [row.id, row] as const))(
    'of %s, which is never JSON',
    (_id, row) => {
      const { reply, read } = resultOf(row);
      for (const text of ['{}', '{"url":"https://files.example/a"}', '']) {
        const json = replyOf(200, text, { ...reply.headers, 'content-type': 'application/json' });
        expect(read(json).outcome).toMatchObject({ kind: 'failed', failure: { class: 'unreadable' } });
      }
    },
  );
});
