/** One server-sent event as it is sent, and the part of the answer's text that it has, if any. */
export interface SentEvent {
  bytes: string;
  text?: string | undefined;
}

/** How a provider streams: the events of a whole reply, and the event of an error in mid-stream. */
export interface EventForm {
  /** Whether a call requests a stream. By default, its body has `"stream": true`, or the text of it in a form. */
  requested?: (url: string, request: JsonObject) => boolean;
  events: (reply: JsonObject, request?: JsonObject, path?: string) => SentEvent[];
  error: SentEvent;
}

type JsonObject = Record<string, unknown>;

const event = (data: object | string, { name, text }: { name?: string; text?: string | undefined } = {}) => ({
  bytes: `${name === undefined ? '' : `event: ${name}\n`}data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`,
  text,
});

const comment = (text: string): SentEvent => ({ bytes: `: ${text}\n\n` });

const objectOf = (value: unknown): JsonObject => Object(value) as JsonObject;
const objectsOf = (value: unknown): JsonObject[] => (Array.isArray(value) ? value.map(objectOf) : []);

const parts = 5;

/** The text in a few pieces, which do not split a surrogate pair. */
function pieces(given: unknown): string[] {
  const text = textOf(given, '');
  const size = Math.max(1, Math.ceil(text.length / parts));
  return text.match(new RegExp(`.{1,${size}}`, 'gsu')) ?? [];
}

const textOf = (value: unknown, byDefault: string): string => (typeof value === 'string' ? value : byDefault);

/** OpenAI's Responses API: numbered events, named by their type; the last one repeats the whole response. */
export const responses: EventForm = {
  events(reply) {
    let number = 0;
    const named = (type: string, members: JsonObject, text?: string) =>
      typed(type, { sequence_number: number++, ...members }, text);
    const begun = { ...reply, status: 'in_progress', incomplete_details: null, output: [], usage: null };
    const written = objectsOf(reply['output']).flatMap((item, output_index) => {
      const at = { item_id: item['id'], output_index };
      const content = objectsOf(item['content']).flatMap((part, content_index) => [
        named('response.content_part.added', { ...at, content_index, part: { ...part, text: '' } }),
        ...pieces(part['text']).map((delta) =>
          named('response.output_text.delta', { ...at, content_index, delta, logprobs: [] }, delta),
        ),
        named('response.output_text.done', { ...at, content_index, text: part['text'], logprobs: [] }),
        named('response.content_part.done', { ...at, content_index, part }),
      ]);
      return [
        named('response.output_item.added', {
          output_index,
          item: { ...item, status: 'in_progress', content: [] },
        }),
        ...content,
        named('response.output_item.done', { output_index, item }),
      ];
    });
    return [
      named('response.created', { response: begun }),
      named('response.in_progress', { response: begun }),
      ...written,
      named(`response.${textOf(reply['status'], 'completed')}`, { response: reply }),
    ];
  },
  error: event(
    { type: 'error', code: 'server_error', message: 'The server had an error.', param: null },
    { name: 'error' },
  ),
};

/** An event whose name is its type. */
const typed = (type: string, members: JsonObject = {}, text?: string) =>
  event({ type, ...members }, { name: type, text });

/** Anthropic's Messages API: the message begins without its content, and its usage is final in `message_delta`. */
export const messages: EventForm = {
  events({ content, stop_reason, stop_sequence, usage, ...message }) {
    const begun = {
      ...message,
      content: [],
      stop_reason: null,
      stop_sequence: null,
      usage: { ...objectOf(usage), output_tokens: 1 },
    };
    const blocks = objectsOf(content).flatMap((block, index) => [
      typed('content_block_start', { index, content_block: { ...block, text: '' } }),
      ...(index === 0 ? [typed('ping')] : []),
      ...pieces(block['text']).map((text) =>
        typed('content_block_delta', { index, delta: { type: 'text_delta', text } }, text),
      ),
      typed('content_block_stop', { index }),
    ]);
    const { output_tokens } = objectOf(usage);
    return [
      typed('message_start', { message: begun }),
      ...blocks,
      typed('message_delta', { delta: { stop_reason, stop_sequence }, usage: { output_tokens } }),
      typed('message_stop'),
    ];
  },
  error: event(
    { type: 'error', error: { type: 'api_error', message: 'Internal server error' } },
    { name: 'error' },
  ),
};

/** The chunks of chat completions. `members` are added to the choices and to the chunks with a part of the answer. */
function chunksOf(
  { choices, usage, object: _object, ...others }: JsonObject,
  members: { choice?: JsonObject; chunk?: JsonObject } = {},
): { written: SentEvent[]; last: SentEvent } {
  const chunk = (rest: JsonObject, text?: string) =>
    event({ ...others, object: 'chat.completion.chunk', ...rest }, { text });
  const written = objectsOf(choices).flatMap(({ index, message, finish_reason }) => {
    const { content, ...rest } = objectOf(message);
    const part = (delta: JsonObject, reason: unknown, text?: string) => {
      const choice = { index, delta, ...members.choice, finish_reason: reason };
      return chunk({ choices: [choice], ...members.chunk }, text);
    };
    return [
      part({ ...rest, content: '' }, null),
      ...pieces(content).map((text) => part({ content: text }, null, text)),
      part({}, finish_reason),
    ];
  });
  return { written, last: chunk({ choices: [], usage }) };
}

/** OpenAI's Chat Completions API: the usage comes in a chunk of its own, only on request. */
export const chatCompletions: EventForm = {
  events(reply, request = {}) {
    const hasUsage = objectOf(request['stream_options'])['include_usage'] === true;
    const chunk = hasUsage ? { usage: null } : {};
    const { written, last } = chunksOf(reply, { choice: { logprobs: null }, chunk });
    return [...written, ...(hasUsage ? [last] : []), event('[DONE]')];
  },
  error: event({
    error: { message: 'The server had an error.', type: 'server_error', param: null, code: 'server_error' },
  }),
};

/** OpenRouter's chat completions: comments before the first chunk, and the usage in the last one. */
export const completions: EventForm = {
  events(reply) {
    const { written, last } = chunksOf(reply);
    return [
      comment('OPENROUTER PROCESSING'),
      ...written,
      ...(reply['usage'] === undefined ? [] : [last]),
      event('[DONE]'),
    ];
  },
  error: event({
    error: { code: 502, message: 'Provider disconnected unexpectedly' },
    choices: [{ index: 0, delta: { content: '' }, finish_reason: 'error' }],
  }),
};

/** Gemini: each event is an answer with the next part of the text or a picture; the last one has the reason why it ended. */
export const answers: EventForm = {
  requested: (url) => url.includes(':streamGenerateContent') && url.includes('alt=sse'),
  events({ candidates, usageMetadata, ...others }) {
    const { promptTokenCount, totalTokenCount: _total } = objectOf(usageMetadata);
    const written = objectsOf(candidates).flatMap(({ content, index }) =>
      objectsOf(objectOf(content)['parts']).flatMap((part) =>
        (part['text'] === undefined ? [part] : pieces(part['text']).map((text) => ({ text }))).map((each) =>
          event(
            {
              candidates: [{ content: { role: 'model', parts: [each] }, index }],
              usageMetadata: { promptTokenCount, totalTokenCount: promptTokenCount },
              ...others,
            },
            { text: textOf(each['text'], '') },
          ),
        ),
      ),
    );
    const ends = objectsOf(candidates).map(({ content, ...end }) => ({
      ...end,
      ...(content !== undefined && { content: { role: 'model', parts: [{ text: '' }] } }),
    }));
    return [
      ...written,
      event({ ...(ends.length > 0 && { candidates: ends }), usageMetadata, ...others }),
    ].map(({ bytes, text }) => ({ bytes: bytes.replaceAll('\n', '\r\n'), text }));
  },
  error: event({ error: { code: 500, message: 'An internal error.', status: 'INTERNAL' } }),
};

const mediaError = event(
  {
    type: 'error',
    error: { type: 'server_error', message: 'The server had an error.', code: 'server_error' },
  },
  { name: 'error' },
);

/** OpenAI's pictures: parts of one as often as was asked, and the whole one with the usage. */
export const pictures: EventForm = {
  events({ data, created, ...reply }, request = {}, path = '') {
    const kind = path.endsWith('/edits') ? 'image_edit' : 'image_generation';
    const [{ b64_json } = {}] = objectsOf(data);
    const { usage, ...settings } = reply;
    const members = { b64_json, created_at: created, ...settings };
    const count = Number(request['partial_images'] ?? 0);
    return [
      ...Array.from({ length: count }, (_, index) =>
        typed(`${kind}.partial_image`, { ...members, partial_image_index: index }),
      ),
      typed(`${kind}.completed`, { ...members, usage }),
    ];
  },
  error: mediaError,
};

/** OpenAI's transcripts: their text in parts, and all of it with the usage. */
export const transcripts: EventForm = {
  events: ({ text, usage }) => [
    ...pieces(text).map((delta) => typed('transcript.text.delta', { delta }, delta)),
    typed('transcript.text.done', { text, usage }),
  ],
  error: mediaError,
};

/** OpenAI's speech: the audio in parts, and the usage. */
export const speech: EventForm = {
  requested: (_url, { stream_format }) => stream_format === 'sse',
  events(_reply, request = {}) {
    const input_tokens = Math.ceil(textOf(request['input'], '').length / 4);
    const output_tokens = input_tokens * 5;
    return [
      ...['c291', 'bmQ='].map((audio) => typed('speech.audio.delta', { audio })),
      typed('speech.audio.done', {
        usage: { input_tokens, output_tokens, total_tokens: input_tokens + output_tokens },
      }),
    ];
  },
  error: mediaError,
};
