import { createProvider } from '../../libs/client/src/ai.js';
import { createRouter } from '../../libs/client/src/index.js';

/** The parts of the `ai` SDK that the tests use. */
interface Ai {
  generateText: (call: object) => Promise<{ text: string; usage: { inputTokens?: number } }>;
  streamText: (call: object) => { textStream: AsyncIterable<string>; text: PromiseLike<string> };
}
type Model = object;
type Provider = (name: string) => Model;

// Names that TypeScript does not follow: under the condition "source", types of these packages are TypeScript sources.
const load = (name: string) => import(name) as Promise<unknown>;
export const ai = (await load('ai')) as Ai;
const { createOpenAI } = (await load('@ai-sdk/openai')) as { createOpenAI: (settings: object) => Provider };
const { createAnthropic } = (await load('@ai-sdk/anthropic')) as {
  createAnthropic: (settings: object) => Provider;
};
const { createGoogleGenerativeAI } = (await load('@ai-sdk/google')) as {
  createGoogleGenerativeAI: (settings: object) => Provider;
};

/** The SDK recognizes errors of `fetch` by their class, which in Jest is another one. */
const ownFetch: typeof fetch = async (input, init) =>
  fetch(input, init).catch((error: { name: string; cause?: unknown }) => {
    throw error.name === 'TypeError' ? new TypeError('fetch failed', { cause: error.cause }) : error;
  });

export interface AiVendor {
  name: string;
  /** The misspelt name of a model. */
  unknown: string;
  model: (name?: string) => Model;
  generate: (prompt: string) => Promise<string>;
  stream: (
    prompt: string,
    abortSignal?: AbortSignal,
    onPart?: () => void,
  ) => Promise<{ text: string; parts: number }>;
}

/** The `ai` SDK with a vendor's provider, as its documents show it, with our base URL and key. */
export const aiVendors = (url: string, apiKey: string): AiVendor[] =>
  (
    [
      ['@ai-sdk/openai', createOpenAI({ baseURL: `${url}/openai/v1`, apiKey, fetch: ownFetch }), 'gpt-5.5'],
      [
        '@ai-sdk/anthropic',
        createAnthropic({ baseURL: `${url}/anthropic/v1`, apiKey, fetch: ownFetch }),
        'claude-opus-5',
      ],
      [
        '@ai-sdk/google',
        createGoogleGenerativeAI({ baseURL: `${url}/gemini/v1beta`, apiKey, fetch: ownFetch }),
        'gemini-2.5-flash',
      ],
    ] as const
  ).map(([name, provider, usual]) => vendorOf(name, usual, provider));

/** The language models of our own provider. */
export const languageModels = (url: string, key: string): AiVendor[] => {
  const { languageModel } = createProvider(createRouter({ baseUrl: url, key, fetch: ownFetch }), {
    languageModels: {
      openai: createOpenAI as never,
      anthropic: createAnthropic as never,
      vertexai: createGoogleGenerativeAI as never,
    },
  });
  return ['openai/gpt-5.5', 'anthropic/claude-opus-5', 'vertexai/gemini-2.5-flash'].map((id) =>
    vendorOf(`our ${id}`, id, languageModel),
  );
};

const vendorOf = (name: string, usual: string, provider: Provider): AiVendor => ({
  name,
  unknown: `${usual}9`,
  ...callsOf((model = usual) => provider(model)),
});

const callsOf = (model: (name?: string) => Model): Omit<AiVendor, 'name' | 'unknown'> => ({
  model,
  generate: async (prompt) => (await ai.generateText({ model: model(), prompt })).text,
  stream: async (prompt, abortSignal, onPart) => {
    const errors: unknown[] = [];
    const { textStream } = ai.streamText({
      model: model(),
      prompt,
      abortSignal,
      onError: ({ error }: { error: unknown }) => errors.push(error),
    });
    let text = '';
    let parts = 0;
    for await (const part of textStream) {
      text += part;
      parts += 1;
      onPart?.();
    }
    if (errors.length > 0) throw errors[0];
    return { text, parts };
  },
});
