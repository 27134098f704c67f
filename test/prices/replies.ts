import type { Model } from '#catalog';

/** The tokens that a reply may report. */
export interface Tokens {
  /** Input tokens, including cached ones. */
  read: number;
  /** Output tokens of all answers together, including thoughts. */
  written: number;
  answers: number;
  /** Whether the input requests a cache, for providers that need a request. */
  isCached: boolean;
  /** Whether the input has a file, without which no token is of an image or of audio. */
  hasFile: boolean;
}

type Reply = Record<string, unknown>;

const modalitiesOf = ({ hasFile }: Tokens): string[] => (hasFile ? ['TEXT', 'IMAGE', 'AUDIO'] : ['TEXT']);

/** Every way in which Gemini may report the tokens of its answers. */
const gemini = (tokens: Tokens): Reply[] => {
  const { read, written } = tokens;
  return [0, read].flatMap((cached) =>
    modalitiesOf(tokens).flatMap((modality) =>
      [0, written].map((thoughts) => ({
        usageMetadata: {
          promptTokenCount: read,
          cachedContentTokenCount: cached,
          promptTokensDetails: [{ modality, tokenCount: read }],
          cacheTokensDetails: [{ modality, tokenCount: cached }],
          candidatesTokenCount: written - thoughts,
          thoughtsTokenCount: thoughts,
        },
      })),
    ),
  );
};

/** An answer with as many images as allowed, and text or thoughts beside them. */
const geminiImages =
  (tokensOfImage: number) =>
  ({ read, written, answers }: Tokens): Reply[] =>
    [1, 4].flatMap((images) => {
      const drawn = images * answers * tokensOfImage;
      if (drawn > written) return [];
      return [0, written - drawn].map((thoughts) => ({
        usageMetadata: {
          promptTokenCount: read,
          candidatesTokensDetails: [
            { modality: 'IMAGE', tokenCount: drawn },
            { modality: 'TEXT', tokenCount: written - drawn - thoughts },
          ],
          thoughtsTokenCount: thoughts,
        },
      }));
    });

const claude = ({ read, written, isCached }: Tokens): Reply[] =>
  [
    { input_tokens: read },
    { input_tokens: 0, cache_read_input_tokens: read },
    ...[0, read]
      .filter(() => isCached)
      .map((hourly) => ({
        input_tokens: 0,
        cache_creation_input_tokens: read,
        cache_creation: { ephemeral_1h_input_tokens: hourly },
      })),
  ].map((used) => ({ usage: { ...used, output_tokens: written } }));

/** OpenAI's details of the input tokens. */
const details = (read: number): (object | undefined)[] => [
  undefined,
  { cached_tokens: read },
  { cached_tokens: 0, cache_write_tokens: read },
];

const responses = ({ read, written }: Tokens): Reply[] =>
  details(read).map((each) => ({
    usage: { input_tokens: read, input_tokens_details: each, output_tokens: written },
  }));

const chat = ({ read, written }: Tokens): Reply[] =>
  details(read).map((each) => ({
    usage: { prompt_tokens: read, prompt_tokens_details: each, completion_tokens: written },
  }));

const interactions = ({ read, written }: Tokens): Reply[] =>
  ['text', 'image', 'audio', 'video'].map((modality) => ({
    usage: {
      total_input_tokens: read,
      total_output_tokens: written,
      total_thought_tokens: 0,
      output_tokens_by_modality: [{ modality, tokens: written }],
    },
  }));

/** The replies of models that are billed by reported tokens. */
const repliesBy: Readonly<Record<string, (tokens: Tokens) => Reply[]>> = {
  '/usage/cache_read_input_tokens': claude,
  '/usage/prompt_tokens_details/cached_tokens': chat,
  '/usage/total_output_tokens': interactions,
  '/usageMetadata/candidatesTokenCount': gemini,
};

const places = ({ price }: Model): string[] =>
  price.reported.flatMap((term) => ('at' in term ? [term.at] : []));

/** The replies that a model may give; undefined for a model that reports no text tokens. */
export function repliesOf(model: Model): ((tokens: Tokens) => Reply[]) | undefined {
  const found = places(model).find((at) => Object.hasOwn(repliesBy, at));
  if (found !== undefined) return repliesBy[found];
  if (places(model).includes('/usageMetadata/candidatesTokensDetails/*/tokenCount')) {
    return geminiImages(model.id.includes('gemini-3-pro') ? 1117 : 1120);
  }
  const isText = places(model).includes('/usage/output_tokens') && model.modalities?.out.join() === 'text';
  return isText ? responses : undefined;
}
