import { inputErrors, type JsonSchema, type Model, sampleUrl } from '#catalog';
import { branchesOf, plain } from './schema-facts.js';

/** An input that the model accepts: a published example, or one made of defaults and listed values. */
export function exampleInput(model: Model): Record<string, unknown> | undefined {
  const { input } = model;
  const built = objectOf(plain(input));
  const published = branchesOf(input).flatMap(({ examples = [] }) => examples);
  const named = Object.keys(model.constants ?? {});
  return [built, ...published]
    .filter((each): each is Record<string, unknown> => typeof each === 'object' && each !== null)
    .map((each) => Object.fromEntries(Object.entries(each).filter(([name]) => !named.includes(name))))
    .find((each) => inputErrors(model, each).length === 0);
}

function exampleOf(schema: JsonSchema, name: string): unknown {
  const facts = plain(schema);
  const [first] = [...(facts.examples ?? []), facts.default, facts.const, ...(facts.enum ?? [])].filter(
    (value) => value !== undefined && value !== null,
  );
  if (first !== undefined) return first;
  switch (facts.type) {
    case 'integer':
    case 'number':
      return (
        Math.max(facts.minimum ?? 0, (facts.exclusiveMinimum ?? -1) + 1) || Math.min(1, facts.maximum ?? 1)
      );
    case 'boolean':
      return false;
    case 'array':
      return Array.from({ length: Math.max(facts.minItems ?? 0, 1) }, () =>
        exampleOf(facts.items ?? {}, name),
      );
    case 'string':
      return textOf(facts, name);
    default:
      return facts.type === 'object' || facts.properties ? objectOf(facts) : textOf(facts, name);
  }
}

function objectOf({ properties = {}, required = [] }: JsonSchema): Record<string, unknown> {
  // A prompt shows what the model is for, even if it may be left out.
  const members = Object.entries(properties).filter(
    ([name]) => required.includes(name) || name === 'prompt' || name === 'text',
  );
  return Object.fromEntries(members.map(([name, each]) => [name, exampleOf(each, name)]));
}

function textOf({ format, minLength = 0, maxLength }: JsonSchema, name: string): string {
  const [, kind] = /(image|video|audio|mesh|model)/.exec(name) ?? [];
  const isLink = format === 'uri' || /url|uri|^(input_)?(image|video|audio|mask)s?$/.test(name);
  const samples: Record<string, string> = {
    video: 'clip.mp4',
    audio: 'chime.mp3',
    mesh: 'shape.glb',
    model: 'shape.glb',
  };
  const text = isLink ? sampleUrl(samples[kind ?? ''] ?? 'coffee.jpg') : 'A lighthouse at dusk';
  return text.padEnd(minLength, '.').slice(0, maxLength);
}
