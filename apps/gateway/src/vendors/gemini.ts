import type { Model } from '#catalog';
import { z } from 'zod';
import { countingPath, type ListedModel, type Vendor, type VendorRoute } from './vendor.js';

/** The names of google.rpc.Code. */
const statuses: Readonly<Record<number, string>> = {
  401: 'UNAUTHENTICATED',
  402: 'FAILED_PRECONDITION',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  409: 'ABORTED',
  429: 'RESOURCE_EXHAUSTED',
  500: 'INTERNAL',
  502: 'UNKNOWN',
  503: 'UNAVAILABLE',
  504: 'DEADLINE_EXCEEDED',
  529: 'UNAVAILABLE',
};

const ownReply = z.object({ error: z.object({ code: z.number(), message: z.string(), status: z.string() }) });

const generates = ({ upstream }: Model): boolean =>
  upstream['protocol'] === 'text' || upstream['method'] === 'generateContent';

const entry = ({ name, title, description, paths }: ListedModel) => ({
  name: `models/${name}`,
  displayName: title,
  description,
  supportedGenerationMethods: paths.map((path) => path.slice(path.indexOf(':') + 1)),
});

/** Vertex AI takes other bodies for these methods, so their rows run on the Gemini API itself. */
const embedding = (method: string): VendorRoute => ({
  path: `/models/{model}:${method}`,
  provider: 'gemini-interactions',
  serves: ({ upstream }) => upstream['method'] === method,
});

/** The Gemini API. Its other rows run on Vertex AI, which takes the same bodies for their methods. */
export const gemini: Vendor = {
  name: 'gemini',
  serves: 'generateContent, streamGenerateContent, embeddings and token counts',
  base: '/gemini/v1beta',
  provider: 'google',
  nameOf: ({ upstream }) => upstream['path'] ?? '',
  key: { header: 'x-goog-api-key', query: 'key' },
  routes: [
    { path: '/models/{model}:generateContent', serves: generates },
    { path: '/models/{model}:streamGenerateContent', serves: generates, alt: 'sse' },
    countingPath('/models/{model}:countTokens'),
    ...['embedContent', 'batchEmbedContents'].map(embedding),
  ],
  ownError: (reply) => ownReply.safeParse(reply).data?.error,
  errorBody: ({ status, message, own }) => ({
    error: { code: status, message, status: statuses[status] ?? 'INVALID_ARGUMENT', ...own },
  }),
  entry,
  list: (models) => ({ models: models.map(entry) }),
};
