import { beforeAll, describe, expect, it } from '@jest/globals';
import { loadCatalog } from '#catalog';

type Input = Record<string, unknown>;
type Path = (string | number)[];
interface Shown {
  properties: Record<string, object>;
  required: string[];
}

/** The parts of the console's form that need no browser. */
interface Form {
  inputSchema: (schema: object, example?: Input) => Shown;
  layoutOf: (
    shown: Shown,
    input: Input,
  ) => { first: string[]; rest: string[]; filled: number; isShort: boolean };
  extrasOf: (shown: Shown, input: Input) => { path: Path; value: unknown }[];
  without: (input: Input, path: Path) => Input;
  formDefaults: object;
  validator: object;
  /** The library that draws the form has this function. */
  createSchemaUtils: (
    validator: object,
    shown: Shown,
    defaults: object,
  ) => { getDefaultFormState: (shown: Shown, entered: Input) => unknown };
  fieldTaking: (
    document: { input: object; example: Input },
    kind: string,
  ) => { field: string; valueWith: (url: string) => unknown } | undefined;
  maskTermsOf: (name: string, field: object) => { meaning: string | undefined } | undefined;
  mapInput: (input: Input, from: object, to: object) => { input: Input; unsent: string[] };
}

// The types of the console and of its libraries need a browser's, which this code doesn't have.
const page = '../../apps/console/src';
const parts = [
  'pages/model/form/form-schema',
  'pages/model/form/form-layout',
  'pages/model/form/form-defaults',
  'pages/model/form/validator',
  'pages/model/form/mask/mask',
  'pages/model/takes',
  'pages/compare/map-input',
];

let form: Form;
let models: {
  id: string;
  input: object;
  example: Input;
  constants: Input;
  refused: Input[];
  takes: string[];
  makes: string[];
}[];

beforeAll(async () => {
  const files = [...parts.map((part) => `${page}/${part}.ts`), '@rjsf/utils'];
  // One after another, because two that share a file cannot be linked at once.
  const loaded: object[] = [];
  for (const file of files) loaded.push((await import(file)) as object);
  form = Object.assign({}, ...loaded) as Form;
  models = (await loadCatalog()).models.map((model) => ({
    id: model.id,
    input: model.input,
    example: (model.example ?? {}) as Input,
    constants: model.constants ?? {},
    refused: model.counterExamples.map(({ input }) => input as Input),
    takes: model.modalities?.in ?? [],
    makes: model.modalities?.out ?? [],
    title: model.title,
    description: model.description,
  }));
});

const leavesOf = (value: unknown, path: Path = []): string[] =>
  typeof value === 'object' && value !== null && Object.keys(value).length > 0
    ? Object.entries(value).flatMap(([name, part]) => leavesOf(part, [...path, name]))
    : [`${path.join('/')} ${JSON.stringify(value)}`];

describe('the form of every model', () => {
  it('shows all that is sent: in an unfolded field, or among the inputs without a field', () => {
    for (const { id, input: schema, example, constants, refused } of models) {
      const shown = form.inputSchema(schema, example);
      const odd = { ...example, hieght: 1024, nested: { of: ['the', 'provider'] }, ...constants };
      for (const sent of [{}, example, odd, ...refused]) {
        const { first, rest, filled, isShort } = form.layoutOf(shown, sent);
        const unfolded = [...first, ...(filled > 0 || isShort ? rest : [])];
        const extras = form.extrasOf(shown, sent);
        // From the last to the first, so that places in lists stay right.
        const inFields = extras.toReversed().reduce((left, { path }) => form.without(left, path), sent);
        const hidden = Object.keys(inFields).filter((name) => !unfolded.includes(name));
        expect([id, sent, hidden]).toEqual([id, sent, []]);
        const seen = [
          ...leavesOf(inFields).filter((leaf) => !/ (\{\}|\[\])$/.test(leaf)),
          ...extras.flatMap(({ path, value }) => leavesOf(value, path)),
        ];
        const all = leavesOf(sent).filter((leaf) => leaf !== ' {}');
        expect([id, all.filter((leaf) => !seen.includes(leaf) && !/ (\{\}|\[\])$/.test(leaf))]).toEqual([
          id,
          [],
        ]);
      }
      expect([id, form.layoutOf(shown, {}).filled]).toEqual([id, 0]);
    }
  });

  it('has a field for every value of the example', () => {
    const without = models
      .filter(({ input, example }) => form.extrasOf(form.inputSchema(input, example), example).length > 0)
      .map(({ id }) => id);
    expect(without).toEqual([]);
  });

  it('adds nothing to what the user entered, except the member that tells the shown alternative', () => {
    const added = models.flatMap(({ id, input: schema, example }) => {
      const shown = form.inputSchema(schema, example);
      const utils = form.createSchemaUtils(form.validator, shown, form.formDefaults);
      return [{}, example].flatMap((entered) => {
        const made = utils.getDefaultFormState(shown, structuredClone(entered));
        const before = leavesOf(entered);
        return leavesOf(made)
          .filter((leaf) => !before.includes(leaf))
          .map((leaf) => `${id} ${leaf}`);
      });
    });
    expect(added).toEqual(
      ['meshy-5', 'meshy-6', 'meshy-7', 'meshy-7.1'].map((model) => `meshy/${model} mode "preview"`),
    );
  });

  it('has no field for the members that name the model', () => {
    for (const { id, input, constants } of models) {
      const { properties, required } = form.inputSchema(input);
      for (const name of Object.keys(constants)) {
        expect([id, name, Object.hasOwn(properties, name), required.includes(name)]).toEqual([
          id,
          name,
          false,
          false,
        ]);
      }
    }
  });

  it('knows what the model sees where a mask is painted', () => {
    const masks = models.flatMap(({ id, input }) =>
      Object.entries(form.inputSchema(input).properties).flatMap(([name, field]) => {
        const terms = form.maskTermsOf(name, field);
        return terms === undefined ? [] : [`${id} ${terms.meaning}`];
      }),
    );
    expect(masks).toEqual(expect.arrayContaining(['openai/gpt-image-2 transparent', 'bfl/erase-v1 white']));
    expect(masks.filter((each) => each.endsWith('undefined'))).toEqual([]);
  });

  it('takes a file of a kind that the model accepts, in a field of its schema', () => {
    const url = 'https://router.example/assets/result';
    const endings: Record<string, string> = { image: '.png', video: '.mp4', audio: '.mp3', '3d': '.glb' };
    const without: string[] = [];
    for (const { id, input, example, takes } of models) {
      for (const kind of takes.filter((each) => Object.hasOwn(endings, each))) {
        const file = url + endings[kind];
        const taking = form.fieldTaking({ input, example }, kind);
        if (taking === undefined) {
          without.push(`${id} ${kind}`);
          continue;
        }
        const filled = { [taking.field]: taking.valueWith(file) };
        expect([id, JSON.stringify(filled).includes(file)]).toEqual([id, true]);
        expect([id, kind, form.extrasOf(form.inputSchema(input), filled)]).toEqual([id, kind, []]);
      }
    }
    // Models with messages, and those that take their provider's own ids or only inline files.
    expect(
      without.filter(
        (each) =>
          !/^(anthropic|openai|byteplus\/seed-|gemini|openrouter|veo|tripo|meshy|minimax\/minimax-h3|runware\/runware-seedance|kling\/videos-video-extend)/.test(
            each,
          ),
      ),
    ).toEqual([]);
  });
});

const of = (id: string) => models.find((model) => model.id === id) ?? {};
const withoutConstants = ({ constants }: { constants: Input }, leaves: string[]) =>
  leaves.filter((leaf) => !Object.keys(constants).includes(leaf.split(' ')[0] ?? ''));

describe('a comparison', () => {
  it('maps each example to its own model without a change, except for IDs, which it names', () => {
    for (const model of models) {
      const { input, unsent } = form.mapInput(model.example, model, model);
      expect([model.id, unsent.filter((path) => !path.endsWith('_id'))]).toEqual([model.id, []]);
      const rest = leavesOf(model.example).filter((leaf) => !/_id "?[^/]*$/.test(leaf));
      expect([model.id, leavesOf(input)]).toEqual([
        model.id,
        expect.arrayContaining(withoutConstants(model, rest)),
      ]);
    }
  });

  it.each([
    [
      'bfl/flux-2-pro',
      'openai/gpt-image-2',
      { prompt: 'x', width: 1536, height: 1024 },
      { prompt: 'x', size: '1536x1024' },
      [],
    ],
    [
      'openai/gpt-image-2',
      'bfl/flux-2-pro',
      { prompt: 'x', size: '1024x1536', n: 2 },
      { prompt: 'x', width: 1024, height: 1536 },
      ['n'],
    ],
    [
      'bfl/flux-2-pro',
      'bfl/flux-kontext-max',
      { prompt: 'x', width: 1024, height: 1024, seed: 7 },
      { prompt: 'x', aspect_ratio: '1:1', seed: 7 },
      [],
    ],
    [
      'bfl/flux-2-pro',
      'anthropic/claude-haiku-4-5-20251001',
      { prompt: 'x', seed: 7 },
      { messages: [{ role: 'user', content: 'x' }] },
      ['seed'],
    ],
  ])('maps the input of %s to %s', (from, to, input, mapped, unsent) => {
    expect(form.mapInput(input, of(from), of(to))).toEqual({ input: mapped, unsent });
  });

  it('sends a list of messages as a whole or not at all', () => {
    const messages = [
      { role: 'user', content: 'one' },
      { role: 'user', content: 'two' },
    ];
    const [from, to] = [of('anthropic/claude-haiku-4-5-20251001'), of('bfl/flux-2-pro')];
    expect(form.mapInput({ messages }, from, to)).toEqual({ input: {}, unsent: ['messages'] });
    expect(form.mapInput({ messages }, from, from)).toEqual({ input: { messages }, unsent: [] });
  });
});
