import { readFileSync } from 'node:fs';
import path from 'node:path';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { parse } from 'yaml';
import { inputErrors, loadCatalog, type Model } from '#catalog';
import { missingMembers } from '../../libs/catalog/src/check-input.js';
import { failOnLeftovers, sharedSystem, transports } from '../harness/index.js';
import { inTurns } from './crossing.js';
import { uploadsOf, withoutUploads, withWords, wrappingOf } from './rows.js';

const published = parse(
  readFileSync(path.join(import.meta.dirname, 'published-inputs.yaml'), 'utf8'),
) as Record<string, object>;
const { models } = await loadCatalog();
const byId = new Map(models.map((model) => [model.id, model]));

/** A number beyond double precision, in a field that no schema knows yet. */
const ofTomorrow = '"field_of_tomorrow":{"a":18446744073709551615, "b":1.0}';

/** The input as a caller writes it: without the model's name, and with `words` in its prompt if it has one. */
function bodyOf(model: Model, input: object, words: string): string {
  const named = Object.keys(model.constants ?? {});
  const rest = Object.fromEntries(Object.entries(input).filter(([name]) => !named.includes(name)));
  const text = JSON.stringify(withWords(rest, words) ?? rest);
  const isClosed = inputErrors(model, { ...rest, field_of_tomorrow: 1 }).length > 0;
  return isClosed ? text : `${text.slice(0, -1)}, ${ofTomorrow} }\n`;
}

/** The voice is a part of the address, and not of the body. */
const withoutVoice = (body: string): string => body.replace(/"voice_id":"[^"]*",/, '');

/** The body that the provider receives: the members that name the model, then the caller's own bytes. */
function sentOf(model: Model, body: string): string {
  const sent = wholeOf(model, body);
  return model.upstream['voices'] === undefined ? sent : withoutVoice(sent);
}

function wholeOf(model: Model, body: string): string {
  const added = JSON.stringify(missingMembers(model, JSON.parse(body) as Record<string, unknown>));
  const whole = added === '{}' ? body : `${added.slice(0, -1)},${body.slice(1)}`;
  const wraps = wrappingOf(model);
  if (wraps === 'list') return `[{${taskOf(model)},${whole.slice(1)}]`;
  return wraps === 'envelope' ? `{"input":${whole}}` : whole;
}

/** The members that name and type the only task of a list. */
const taskOf = ({ modalities }: Model): string =>
  modalities?.out.includes('video')
    ? '"taskType":"videoInference","taskUUID":"","deliveryMethod":"async","includeCost":true'
    : '"taskType":"imageInference","taskUUID":"","deliveryMethod":"sync","includeCost":true';

/** Google's video models get their storage in the caller's own `parameters`; Runware gets the task's name. */
const sentText = (base64: string) =>
  Buffer.from(base64, 'base64')
    .toString()
    .replace(/"storageUri":"[^"]*",/, '')
    .replace(/(?<="taskUUID":")[0-9a-f-]{36}/, '');

/** Each additional server of a model, with an input of that server. */
const servers = models.flatMap((model) =>
  model.servers.flatMap((id) => {
    const server = byId.get(id);
    return server ? [{ model: model.id, server, body: bodyOf(server, server.example ?? {}, '') }] : [];
  }),
);

const examples = models.map((model): [string, object] => [model.id, model.example ?? {}]);
const inputs = [...examples, ...Object.entries(published)].map(([id, input], at) => {
  const model = byId.get(id);
  if (!model) throw new Error(`unknown row ${id}`);
  const body = bodyOf(model, input, `[[sim:tag=example-${at}]]`);
  return { at, id, model, body };
});

describe.each(transports().slice(0, 1))('every example on %s', (transport) => {
  const system = sharedSystem(transport);
  const statuses = new Map<number, string>();
  const bases = new Map<number, string | null>();
  let ledger: Awaited<ReturnType<typeof system.provider.ledger>>;

  beforeAll(async () => {
    const caller = await system.caller({ inflightLimit: 1000, windowLimit: 10_000 });
    const runs = await inTurns(inputs, async ({ at, id, body }) => ({
      at,
      run: await caller.submit(id, body),
    }));
    await system.ended(caller, 120_000);
    await inTurns(runs, async ({ at, run }) => {
      const { status, bytes } = await caller.collect(run);
      statuses.set(at, `${status} ${status === 200 ? '' : bytes.subarray(0, 300).toString()}`);
    });
    ledger = await system.provider.ledger();
    const records = await system.sql<{ run_id: string; basis: string | null }>(
      'SELECT run_id, basis FROM audit_record WHERE run_id = ANY($1)',
      [runs.map(({ run }) => run.requestId)],
    );
    const basisOf = new Map(records.map(({ run_id, basis }) => [run_id, basis]));
    for (const { at, run } of runs) bases.set(at, basisOf.get(run.requestId) ?? null);
  });

  it.each(inputs)('$id reaches its provider byte for byte, and returns ($at)', ({ at, model, body }) => {
    expect(statuses.get(at)).toBe('200 ');
    const tag = body.includes('[[sim:') ? `example-${at}` : null;
    const uploads = uploadsOf(model, body);
    const sent = ledger
      .filter((entry) => entry.provider === model.provider && entry.tag === tag)
      .map(({ bodyBase64 }) => withoutUploads(sentText(bodyBase64), uploads));
    const isForm = wrappingOf(model) === 'form';
    expect(isForm ? sent.map(() => 'a form') : sent).toContain(
      isForm ? 'a form' : withoutUploads(sentOf(model, body), uploads),
    );
  });

  it.each(inputs.filter(({ model }) => model.price.reported.some(({ optional }) => !optional)))(
    '$id is billed by what its provider reports ($at)',
    ({ at }) => {
      expect(bases.get(at)).toBe('reported');
    },
  );

  it('every server of a model can be picked', async () => {
    const caller = await system.caller({ inflightLimit: 1000, windowLimit: 10_000 });
    const runs = await inTurns(servers, async ({ model, server: { provider }, body }) =>
      caller.submit(model, body, { query: `?model_provider=${provider}` }),
    );
    await system.ended(caller, 120_000);
    const served = await inTurns(runs, async (run) => {
      const { status, headers } = await caller.collect(run);
      return [status, headers.get('x-service-model-provider')];
    });
    expect(served).toEqual(servers.map(({ server }) => [200, server.provider]));
    expect(served.length).toBeGreaterThanOrEqual(26);
  });
});

failOnLeftovers();
