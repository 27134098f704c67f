import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { RouterError } from '#errors';
import { createLog, Metrics } from '#observability';
import { parsedYaml } from '#providers';
import { checkCatalog } from './check-catalog.js';
import { inputErrors } from './check-input.js';
import { isObject } from './intake/intake.js';
import { lateSchemas } from './late-schemas.js';
import { LiveCatalog } from './live-catalog.js';
import { builtInDirectories, loadCatalog } from './load-catalog.js';
import { type Model, oncePerSchema, readModel } from './model.js';
import { modelType } from './model-types.js';
import { type Generation, openApiDocument } from './model-views.js';

const document = {
  Input: {
    type: 'object',
    required: ['prompt'],
    properties: { prompt: { type: 'string' }, size: { $ref: '#/Size' } },
  },
  Output: { type: 'object', properties: { url: { type: 'string' } } },
  Size: { type: 'integer', maximum: 4 },
};
const row = (file = 'paint.json', id = 'bfl/paint') => ({
  id,
  upstream: { path: 'paint' },
  charges_on_policy_rejection: 'no',
  price: { usd: 0.01 },
  input: { $ref: `${file}#/Input` },
  output: { media_type: 'application/json', schema: { $ref: `${file}#/Output` } },
  example: { prompt: 'a cat' },
});

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(path.join(tmpdir(), 'late-'));
});
afterEach(() => rmSync(directory, { recursive: true }));

const put = (name: string, content: unknown) =>
  writeFileSync(path.join(directory, name), typeof content === 'string' ? content : JSON.stringify(content));
const isReadLater = (model: Model) => lateSchemas(model) !== undefined;
const load = () => loadCatalog({ directories: [directory] });

function found({ find }: Pick<Awaited<ReturnType<typeof load>>, 'find'>, id = 'bfl/paint'): Model {
  const model = find(id);
  if (model === undefined) throw new Error(`there is no ${id}`);
  return model;
}

function failure(use: () => unknown): RouterError {
  try {
    use();
  } catch (error) {
    if (error instanceof RouterError) return error;
  }
  throw new Error('the use did not fail');
}

const frame = { servers: [], externalDocs: { description: 'x', url: '/' }, operation: {}, components: {} };
const generations: Generation[] = ['v1', 'v2'];
/** Everything that the schemas of a model lead to. */
const viewsOf = (model: Model) => ({
  documents: generations.map((generation) => openApiDocument(model, generation, frame).bytes.toString()),
  type: modelType(model),
  errors: [model.example, {}, { prompt: 7 }, ...model.counterExamples.map(({ input }) => input)].map(
    (input) => inputErrors(model, input),
  ),
});

describe('a row whose schemas are read on first use', () => {
  const directories = builtInDirectories().filter((each) => /\/(bfl|fal|google|openai)\/models$/.test(each));

  it.each(directories)(
    'has the same documents, types and errors as one with its schemas in it: %s',
    async (folder) => {
      // A copy, because other files have used the models of the release, whose documents are kept.
      const copy = path.join(directory, 'eager');
      cpSync(folder, copy, { recursive: true });
      const eager = await loadCatalog({ directories: [copy] });
      const ids: string[] = [];
      for (const name of readdirSync(folder)) {
        const own = parsedYaml(readFileSync(path.join(folder, name), 'utf8'));
        if (!isObject(own) || !isObject(own['input']) || own['extends'] !== undefined) continue;
        const { input, output } = own;
        const schema = isObject(output) ? output['schema'] : undefined;
        const file = name.replace('.yaml', '.json');
        put(file, { Input: input, Output: schema });
        const refer = (pointer: string) => ({ $ref: `${file}#/${pointer}` });
        const lateOutput =
          isObject(output) && schema !== undefined ? { ...output, schema: refer('Output') } : output;
        put(name, { ...own, input: refer('Input'), output: lateOutput });
        ids.push(String(own['id']));
      }
      const late = await load();
      expect(ids.length).toBeGreaterThan(4);
      for (const id of ids) {
        const [one, other] = [found(eager, id), found(late, id)];
        expect([id, isReadLater(one), isReadLater(other)]).toEqual([id, false, true]);
        expect(viewsOf(other)).toEqual(viewsOf(one));
      }
    },
  );

  it('is read with its row if its document is large, refers to another, or is not all that its schemas say', async () => {
    const refersElsewhere = { ...document, Size: { $ref: 'sizes.json#/Size' } };
    put('a.json', { ...document, large: 'x'.repeat(300_000) });
    put('b.json', refersElsewhere);
    put('c.json', document);
    put('sizes.json', document);
    put('a.yaml', row('a.json', 'bfl/a'));
    put('b.yaml', row('b.json', 'bfl/b'));
    put('c.yaml', { ...row('c.json', 'bfl/c'), input: { $ref: 'c.json#/Input', minProperties: 1 } });
    const { models } = await load();
    expect(
      models.map((model) => [isReadLater(model), inputErrors(model, { prompt: 'x', size: 5 }).length]),
    ).toEqual([false, false, false].map((isLate) => [isLate, 1]));
  });

  it('is read once by concurrent first uses, and again after many others were used', async () => {
    let reads = 0;
    const late = (file: string) => ({ digest: file, read: () => ((reads += 1), document) });
    const modelNamed = (id: string) => {
      const read = readModel(row('paint.json', id), undefined, late);
      if ('problems' in read) throw new Error(JSON.stringify(read.problems));
      return read.model;
    };
    let compiled = 0;
    const compile = oncePerSchema(({ input }) => ({ input, nth: (compiled += 1) }));
    const model = modelNamed('bfl/first');
    const uses = await Promise.all(
      [1, 2, 3].map(async () => [compile(model), inputErrors(model, {}).length]),
    );
    expect([reads, compiled, new Set(uses.map(([made]) => made)).size]).toEqual([1, 1, 1]);
    for (let nth = 0; nth < 100; nth += 1) expect(modelNamed(`bfl/other-${nth}`).input.type).toBe('object');
    reads = 0;
    compile(model);
    expect([reads, compiled]).toEqual([1, 2]);
  });

  it.each([
    ['has vanished', () => rmSync(path.join(directory, 'paint.json')), /ENOENT.*paint\.json/],
    ['has changed', () => put('paint.json', { ...document, more: 1 }), /paint\.json has changed since/],
  ])('answers 503 while its document %s, and works again once it is back', async (_what, breakIt, reason) => {
    put('paint.json', document);
    put('paint.yaml', row());
    const model = found(await load());
    breakIt();
    for (const use of [() => inputErrors(model, {}), () => openApiDocument(model, 'v2', frame)]) {
      const { status, bucket, publicDetail, internal } = failure(use);
      expect([status, bucket, publicDetail]).toEqual([
        503,
        'service_unavailable',
        'The schema of this model cannot be read at the moment; retry later.',
      ]);
      expect(internal).toMatch(reason);
    }
    put('paint.json', document);
    expect(inputErrors(model, {}).map(({ type }) => type)).toEqual(['missing']);
    breakIt();
    expect(inputErrors(model, {}).map(({ type }) => type)).toEqual(['missing']);
  });

  it.each([
    ['is not JSON', '{', /input\/\$ref.*JSON/],
    ['lacks the schema', {}, /input\/\$ref.*paint\.json#\/Input does not exist/],
    ['is not an object', { ...document, Input: { type: 'string' } }, /input\/type.*must be an object/],
    ['has a keyword that cannot be checked', { ...document, Size: { if: {} } }, /if is not supported/],
  ])('answers 503 if its document %s, which `admin catalog check` finds', async (_what, content, reason) => {
    put('paint.json', content);
    put('paint.yaml', row());
    const model = found(await load());
    expect(failure(() => inputErrors(model, {})).status).toBe(503);
    const problems = await checkCatalog({ directories: [directory] });
    expect(problems.map(({ pointer, reason: why }) => `${pointer} ${why}`).join('\n')).toMatch(reason);
  });

  it('is checked by `admin catalog check` with its example', async () => {
    put('paint.json', document);
    put('paint.yaml', { ...row(), example: { prompt: 7 } });
    expect(await checkCatalog({ directories: [directory] })).toMatchObject([{ pointer: '/example/prompt' }]);
  });

  it('fails to load if its document does not exist', async () => {
    put('paint.yaml', row());
    await expect(load()).rejects.toThrow(/paint\.yaml#\/input\/\$ref: .*ENOENT/);
  });
});

const opened = (keepsModels: boolean) =>
  LiveCatalog.open({
    directory,
    keepsModels,
    everyMs: 60_000,
    report: () => {},
    log: createLog('spec', 'silent'),
    metrics: new Metrics(),
  });

describe('a reload', () => {
  it('keeps what was compiled for an unchanged row, and drops what a new document replaces', async () => {
    put('paint.json', document);
    put('paint.yaml', row());
    const live = await opened(true);
    const before = found(live.current);
    const { input } = before;
    put('other.json', document);
    put('other.yaml', row('other.json', 'bfl/other'));
    await live.renew();
    expect(found(live.current, 'bfl/other').input).toEqual(input);
    expect(found(live.current).input).toBe(input);

    put('paint.json', { ...document, Size: { type: 'integer', maximum: 9 } });
    await live.renew();
    const after = found(live.current);
    expect(after).not.toBe(before);
    expect(inputErrors(after, { prompt: 'x', size: 7 })).toEqual([]);
    // The old schema is no longer in memory, and its document has been replaced.
    expect(failure(() => before.input).internal).toContain('has changed');
    await live.close();
  });

  it('of a process without models refuses the same rows, and has the same revision', async () => {
    put('paint.json', document);
    put('paint.yaml', row());
    put('ended.yaml', 'id: bfl/gone\nended: 2026-01-01\naliases: [bfl/old]\n');
    const [whole, bare] = await Promise.all([opened(true), opened(false)]);
    expect(bare.current.models).toEqual([]);
    expect(bare.current.find('bfl/paint')).toBeUndefined();
    const states = async () => {
      await Promise.all([whole.renew(), bare.renew()]);
      return [whole.state, bare.state];
    };
    const bad = {
      'no price': { ...row(), price: undefined },
      'no document': row('absent.json'),
      'no provider': { ...row(), id: 'nobody/paint' },
      'a taken alias': { ...row(), aliases: ['bfl/old'] },
      'a wrong example': { ...row('inline', 'bfl/paint'), input: document.Input, output: undefined },
    };
    for (const [what, content] of Object.entries(bad)) {
      put('paint.yaml', content);
      const [one, other] = await states();
      expect([what, one?.problem]).toEqual([what, expect.stringContaining('.yaml#')]);
      expect(other).toEqual(one);
    }
    put('paint.yaml', { ...row(), title: 'Paint' });
    const [one, other] = await states();
    expect(one).toEqual({ revision: whole.current.revision });
    expect(other).toEqual(one);
    await Promise.all([whole.close(), bare.close()]);
  });
});
