/** How the clients of a vendor call: a model with a valid input, and the members of an error that clients read. */
export interface VendorSide {
  base: string;
  /** Our id of the model. */
  id: string;
  model: string;
  credential: (key: string) => Record<string, string>;
  /** The path and the body of a call that runs a model. */
  call: (model: string, members?: object) => { path: string; body: string };
  /** The part of an error that says what kind it is. */
  kindOf: (body: never) => unknown;
  textOf: (body: never) => string;
  kinds: Readonly<Record<number, string>>;
  /** A provider's error about an input. */
  verdict: object;
}

interface OpenaiError {
  error: { message: string; type: string; param: string | null; code: string };
}
interface AnthropicError {
  type: 'error';
  error: { type: string; message: string };
  request_id: string;
}
interface GoogleError {
  error: { code: number; message: string; status: string };
}

export const openai: VendorSide = {
  base: '/openai/v1',
  id: 'openai/gpt-5.5',
  model: 'gpt-5.5',
  credential: (key) => ({ authorization: `Bearer ${key}` }),
  call: (model, members) => ({
    path: '/openai/v1/responses',
    body: JSON.stringify({ model, input: 'x', max_output_tokens: 16, ...members }),
  }),
  kindOf: ({ error }: OpenaiError) => error.type,
  textOf: ({ error }: OpenaiError) => error.message,
  kinds: {
    400: 'invalid_request_error',
    401: 'authentication_error',
    402: 'insufficient_quota',
    403: 'permission_error',
    404: 'invalid_request_error',
    409: 'invalid_request_error',
    413: 'invalid_request_error',
    415: 'invalid_request_error',
    422: 'invalid_request_error',
    429: 'rate_limit_error',
    502: 'server_error',
    503: 'server_error',
    504: 'server_error',
    529: 'server_error',
  },
  verdict: {
    error: {
      message: 'The prompt is too long.',
      type: 'invalid_request_error',
      param: null,
      code: 'context_length_exceeded',
    },
  },
};

export const anthropic: VendorSide = {
  base: '/anthropic/v1',
  id: 'anthropic/claude-opus-5',
  model: 'claude-opus-5',
  credential: (key) => ({ 'x-api-key': key }),
  call: (model, members) => ({
    path: '/anthropic/v1/messages',
    body: JSON.stringify({ model, max_tokens: 16, messages: [{ role: 'user', content: 'x' }], ...members }),
  }),
  kindOf: ({ type, error, request_id: id }: AnthropicError) =>
    type === 'error' && /^[0-9a-f-]{36}$/.test(id) ? error.type : undefined,
  textOf: ({ error }: AnthropicError) => error.message,
  kinds: {
    400: 'invalid_request_error',
    401: 'authentication_error',
    402: 'billing_error',
    403: 'permission_error',
    404: 'not_found_error',
    409: 'invalid_request_error',
    413: 'request_too_large',
    415: 'invalid_request_error',
    422: 'invalid_request_error',
    429: 'rate_limit_error',
    502: 'api_error',
    503: 'overloaded_error',
    504: 'timeout_error',
    529: 'overloaded_error',
  },
  verdict: { type: 'error', error: { type: 'invalid_request_error', message: 'The prompt is too long.' } },
};

export const gemini: VendorSide = {
  base: '/gemini/v1beta',
  id: 'vertexai/gemini-2.5-flash',
  model: 'gemini-2.5-flash',
  credential: (key) => ({ 'x-goog-api-key': key }),
  call: (model, members) => ({
    path: `/gemini/v1beta/models/${model}:generateContent`,
    body: JSON.stringify({
      contents: [{ role: 'user', parts: [{ text: 'x' }] }],
      generationConfig: { maxOutputTokens: 16 },
      ...members,
    }),
  }),
  kindOf: ({ error }: GoogleError) => `${error.code} ${error.status}`,
  textOf: ({ error }: GoogleError) => error.message,
  kinds: {
    400: '400 INVALID_ARGUMENT',
    401: '401 UNAUTHENTICATED',
    402: '402 FAILED_PRECONDITION',
    403: '403 PERMISSION_DENIED',
    404: '404 NOT_FOUND',
    409: '409 ABORTED',
    413: '413 INVALID_ARGUMENT',
    415: '415 INVALID_ARGUMENT',
    422: '422 INVALID_ARGUMENT',
    429: '429 RESOURCE_EXHAUSTED',
    502: '502 UNKNOWN',
    503: '503 UNAVAILABLE',
    504: '504 DEADLINE_EXCEEDED',
    529: '529 UNAVAILABLE',
  },
  verdict: { error: { code: 400, message: 'The prompt is too long.', status: 'INVALID_ARGUMENT' } },
};

export const vendorSides = [openai, anthropic, gemini];
