import { extname } from 'node:path';
import type { JsonSchema } from '#catalog';
import type { Modality } from '../modalities.js';
import { branchesOf, linkPointers, listedValues, plain } from '../schema-facts.js';

/** The published facts of a model of Replicate. */
interface Facts {
  input: JsonSchema;
  output: JsonSchema;
  /** The output of a published example. */
  example: unknown;
  /** The name and description. */
  text: string;
}

/**
 * The kinds of content of a model. Replicate publishes no category, and its schemas say only that a text is a link, so the
 * kind of a file is read from the names of fields, the listed file formats and the published example. Undefined if the kind
 * of the output cannot be told.
 */
export function replicateModalities(facts: Facts): { in: Modality[]; out: Modality[] } | undefined {
  const out = outputOf(facts);
  const read = inputsOf(facts.input);
  return out === undefined || read.length === 0 ? undefined : { in: read, out: [out] };
}

const kindsByEnding: Readonly<Record<string, Modality>> = {
  ...ending('image', ['png', 'jpg', 'jpeg', 'webp', 'gif', 'svg', 'avif']),
  ...ending('video', ['mp4', 'mov', 'webm', 'mkv']),
  ...ending('audio', ['mp3', 'wav', 'flac', 'ogg', 'opus', 'm4a']),
  ...ending('3d', ['glb', 'gltf', 'obj', 'ply', 'stl', 'fbx']),
};

function ending(kind: Modality, names: readonly string[]): Record<string, Modality> {
  return Object.fromEntries(names.map((name) => [name, kind]));
}

/** The more specific kinds come first: a model that makes a video from an image is for videos. */
const kindsByWord: readonly (readonly [Modality, RegExp])[] = [
  ['3d', /\b(3d|mesh|point cloud)/i],
  ['video', /video|animat/i],
  ['audio', /audio|speech|voice|music|song|sound|\btts\b/i],
  ['image', /image|img|photo|picture|mask|frame|portrait|sketch|inpaint|diffusion|sdxl/i],
];

const byWords = (text: string): Modality | undefined => kindsByWord.find(([, word]) => word.test(text))?.[0];

const byEnding = (name: string): Modality | undefined =>
  kindsByEnding[name.toLowerCase().replace(/^.*[./]/, '')];

function outputOf({ input, output, example, text }: Facts): Modality | undefined {
  if (linkPointers(output, '').length === 0) {
    const { type, items } = plain(output);
    const single = type === 'array' ? plain(items ?? {}).type : type;
    return single === 'string' ? 'text' : undefined;
  }
  const formats = Object.entries(plain(input).properties ?? {})
    .filter(([name]) => /format|extension/.test(name))
    .flatMap(([, schema]) => [plain(schema).default, ...listedValues(schema)]);
  return (
    linksIn(example).map(byPath).find(Boolean) ??
    formats
      .filter((each) => typeof each === 'string')
      .map(byEnding)
      .find(Boolean) ??
    byWords(
      branchesOf(output)
        .map(({ description = '' }) => description)
        .join(' '),
    ) ??
    byWords(text)
  );
}

const byPath = (link: string): Modality | undefined =>
  URL.canParse(link) ? byEnding(extname(new URL(link).pathname)) : undefined;

/** The links in a value, in its lists and members. */
function linksIn(value: unknown): string[] {
  if (typeof value === 'string') return value.startsWith('https:') ? [value] : [];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(linksIn) : [];
}

/** The kinds that the fields take. Those of required fields come first, and among them texts. */
function inputsOf(input: JsonSchema): Modality[] {
  const { properties = {}, required = [] } = plain(input);
  const found = Object.entries(properties).flatMap(([name, schema]) => {
    const kind = fieldKind(name, schema);
    return kind === undefined
      ? []
      : [{ kind, rank: (required.includes(name) ? 0 : 2) + (kind === 'text' ? 0 : 1) }];
  });
  return [...new Set(found.sort((one, other) => one.rank - other.rank).map(({ kind }) => kind))];
}

function fieldKind(name: string, schema: JsonSchema): Modality | undefined {
  if (linkPointers(schema, '').length > 0) return byWords(name) ?? byWords(plain(schema).description ?? '');
  return /(^|_)(prompt|text|lyrics|script)$/.test(name) && plain(schema).type === 'string'
    ? 'text'
    : undefined;
}
