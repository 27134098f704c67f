import { type Asked, type Body, halves, listIn, textIn, type TurnReply, toolOf, type Turn } from './turns.js';

const usage = {
  input_tokens: 2200,
  input_tokens_details: { cached_tokens: 1800 },
  output_tokens: 80,
  output_tokens_details: { reasoning_tokens: 40 },
  total_tokens: 2280,
};

const chatUsage = {
  prompt_tokens: usage.input_tokens,
  prompt_tokens_details: usage.input_tokens_details,
  completion_tokens: usage.output_tokens,
  completion_tokens_details: usage.output_tokens_details,
  total_tokens: usage.total_tokens,
};

/** The conversation in a request to Responses. */
export const askedInResponses = ({ input, tools }: Body): Asked => ({
  text: textIn(input),
  tools: listIn(tools).map(({ name, parameters }) => toolOf(name, parameters)),
  hasResult: textIn(input).includes('"function_call_output"'),
});

/** The reply of Responses to a turn. */
export function responsesReply(body: Body, turn: Turn, callId: string): TurnReply {
  const item =
    'call' in turn
      ? {
          type: 'function_call',
          id: 'fc_1',
          call_id: callId,
          name: turn.call,
          arguments: JSON.stringify(turn.input),
          status: 'completed',
        }
      : {
          type: 'message',
          id: 'msg_1',
          role: 'assistant',
          status: 'completed',
          content: [{ type: 'output_text', text: turn.text, annotations: [] }],
        };
  const reasoning = { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'c2VjcmV0' };
  const response = {
    id: 'resp_1',
    object: 'response',
    created_at: 1_767_225_600,
    model: body['model'],
    status: 'in_progress',
    error: null,
    incomplete_details: null,
    output: [],
    usage: null,
  };
  const completed = { ...response, status: 'completed', output: [reasoning, item], usage };
  const place = { output_index: 1, content_index: 0, item_id: 'msg_1' };
  const empty = { type: 'output_text', text: '', annotations: [] };
  const deltas =
    'call' in turn
      ? [
          ...halves(JSON.stringify(turn.input)).map((delta) => ({
            type: 'response.function_call_arguments.delta',
            output_index: 1,
            item_id: 'fc_1',
            delta,
          })),
          {
            type: 'response.function_call_arguments.done',
            output_index: 1,
            item_id: 'fc_1',
            arguments: JSON.stringify(turn.input),
          },
        ]
      : [
          { type: 'response.content_part.added', ...place, part: empty },
          ...halves(turn.text).map((delta) => ({ type: 'response.output_text.delta', ...place, delta })),
          { type: 'response.output_text.done', ...place, text: turn.text },
          { type: 'response.content_part.done', ...place, part: { ...empty, text: turn.text } },
        ];
  const events = [
    { type: 'response.created', response },
    { type: 'response.output_item.added', output_index: 0, item: reasoning },
    { type: 'response.output_item.done', output_index: 0, item: reasoning },
    {
      type: 'response.output_item.added',
      output_index: 1,
      item: {
        ...item,
        status: 'in_progress',
        ...('content' in item && { content: [] }),
        ...('arguments' in item && { arguments: '' }),
      },
    },
    ...deltas,
    { type: 'response.output_item.done', output_index: 1, item },
    { type: 'response.completed', response: completed },
  ];
  return { whole: completed, events: events.map((event, index) => ({ ...event, sequence_number: index })) };
}

/** The conversation in a request to Chat Completions. */
export const askedInChat = ({ messages, tools }: Body): Asked => ({
  text: textIn(messages),
  tools: listIn(tools).map((tool) => {
    const { name, parameters } = Object(tool['function']) as Body;
    return toolOf(name, parameters);
  }),
  hasResult: listIn(messages).some(({ role }) => role === 'tool'),
});

/** The reply of Chat Completions to a turn. As at OpenAI, a stream has its usage only if the request includes it. */
export function chatReply(body: Body, turn: Turn, callId: string): TurnReply {
  const { model } = body;
  const head = { id: 'chatcmpl-1', created: 1_767_225_600, model };
  const finish_reason = 'call' in turn ? 'tool_calls' : 'stop';
  const callOf = (args: string) => ({
    id: callId,
    type: 'function',
    function: { name: 'call' in turn ? turn.call : '', arguments: args },
  });
  const message =
    'call' in turn
      ? { role: 'assistant', content: null, tool_calls: [callOf(JSON.stringify(turn.input))] }
      : { role: 'assistant', content: turn.text };
  const deltas: Body[] =
    'call' in turn
      ? [
          { role: 'assistant', content: null, tool_calls: [{ index: 0, ...callOf('') }] },
          ...halves(JSON.stringify(turn.input)).map((part) => ({
            tool_calls: [{ index: 0, function: { arguments: part } }],
          })),
        ]
      : [{ role: 'assistant', content: '' }, ...halves(turn.text).map((content) => ({ content }))];
  const chunk = (choices: Body[], more: Body = {}) => ({
    ...head,
    object: 'chat.completion.chunk',
    choices,
    ...more,
  });
  const choice = (delta: Body, reason: string | null = null) =>
    chunk([{ index: 0, delta, finish_reason: reason }]);
  return {
    whole: {
      ...head,
      object: 'chat.completion',
      choices: [{ index: 0, message, finish_reason }],
      usage: chatUsage,
    },
    events: [
      ...deltas.map((delta) => choice(delta)),
      choice({}, finish_reason),
      ...(Object(body['stream_options'])['include_usage'] === true ? [chunk([], { usage: chatUsage })] : []),
    ],
  };
}
