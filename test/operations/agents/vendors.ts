import type { ServerResponse } from 'node:http';
import { json, type ReceivedCall, type Reply, ScriptedServer } from '../../harness/index.js';

type Body = Record<string, unknown>;

/** A turn of a model: a text, or a call of one of the agent's tools. A stalled one begins its text and never ends it. */
type Turn = { text: string; stalls?: boolean } | { call: string; input: object };

/** The conversation in a request, in words that are the same for all vendors. */
interface Asked {
  text: string;
  tools: readonly string[];
  hasResult: boolean;
  /** The schema of the JSON that is asked for. */
  schema?: unknown;
}

export const greeting = 'Hello from the model.';
export const written = 'written by the model';
const thought = 'A short thought comes first.';

/** The inputs of the tools by which agents write a file. */
const writers: Readonly<Record<string, (file: string) => object>> = {
  Write: (file_path) => ({ file_path, content: `${written}\n` }),
  write: (filePath) => ({ filePath, content: `${written}\n` }),
  write_file: (file_path) => ({ file_path, content: `${written}\n` }),
  apply_patch: (file) => ({
    patchText: `*** Begin Patch\n*** Add File: ${file}\n+${written}\n*** End Patch`,
  }),
  exec_command: (file) => ({ cmd: `echo ${written} > ${file}` }),
};

function turnFor({ text, tools, hasResult, schema }: Asked): Turn {
  if (schema !== undefined) return { text: JSON.stringify(exampleOf(schema)) };
  if (hasResult) return { text: 'The file is written.' };
  const [, file = ''] = /Write the file ([\w./-]+\.txt)/.exec(text) ?? [];
  // Codex takes a patch as plain text, so its shell comes first.
  const writer = tools
    .toSorted((one, other) => Number(one === 'apply_patch') - Number(other === 'apply_patch'))
    .find((name) => Object.hasOwn(writers, name));
  if (file !== '' && writer !== undefined) return { call: writer, input: writers[writer]?.(file) ?? {} };
  return { text: greeting, stalls: text.includes('Never end') };
}

/** The smallest value that a JSON schema of an object allows. */
function exampleOf(schema: unknown): unknown {
  const { type, properties = {}, enum: values } = Object(schema) as Body;
  if (Array.isArray(values)) return values[0] as unknown;
  if (String(type).toLowerCase() !== 'object') return /number|integer/i.test(String(type)) ? 1 : 'x';
  return Object.fromEntries(
    Object.entries(properties as Body).map(([name, member]) => [name, exampleOf(member)]),
  );
}

const textIn = (value: unknown): string => JSON.stringify(value) ?? '';
const listIn = (value: unknown): Body[] => (Array.isArray(value) ? (value as Body[]) : []);

/**
 * The APIs of three vendors, as strict as they are about members that need a header, and with thoughts, caches and tools in their
 * streams.
 */
export class Vendors extends ScriptedServer {
  /** The requests that a vendor refused, with its reason. */
  readonly refused: string[] = [];
  /** The models of the requests. */
  readonly models: string[] = [];
  /** How many streams began without an end. */
  stalled = 0;
  /** How many streams their caller left before the end. */
  left = 0;

  protected override replyTo(call: ReceivedCall): Reply {
    const [, vendor = ''] = call.url.pathname.split('/');
    const body = JSON.parse(call.text) as Body;
    if (textIn(body).includes('Far too long')) return this.refusal(vendor);
    const problem = vendor === 'anthropic' ? anthropicProblem(call, body) : undefined;
    if (problem !== undefined) {
      this.refused.push(problem);
      return json({ type: 'error', error: { type: 'invalid_request_error', message: problem } }, 400);
    }
    switch (vendor) {
      case 'anthropic':
        return this.anthropic(body);
      case 'openai':
        return this.openai(body);
      default:
        return this.google(call, body);
    }
  }

  private refusal(vendor: string): Reply {
    const said = {
      anthropic: {
        type: 'error',
        error: {
          type: 'invalid_request_error',
          message: 'prompt is too long: 208310 tokens > 200000 maximum',
        },
      },
      openai: {
        error: {
          message: 'Your input exceeds the context window of this model.',
          type: 'invalid_request_error',
          param: 'input',
          code: 'context_length_exceeded',
        },
      },
    }[vendor] ?? {
      error: {
        code: 400,
        message: 'The input token count exceeds the maximum number of tokens allowed (1048576).',
        status: 'INVALID_ARGUMENT',
      },
    };
    return json(said, 400);
  }

  private anthropic(body: Body): Reply {
    this.models.push(String(body['model']));
    const messages = listIn(body['messages']);
    const turn = turnFor({
      text: textIn(messages),
      tools: listIn(body['tools']).map(({ name }) => String(name)),
      hasResult: textIn(messages).includes('"tool_result"'),
      schema: Object(Object(body['output_config'])['format'])['schema'],
    });
    const start = {
      input_tokens: 1200,
      cache_read_input_tokens: 900,
      cache_creation_input_tokens: 100,
      output_tokens: 1,
    };
    const usage = { ...start, output_tokens: 60 };
    const isThinking =
      Object(body['thinking'])['type'] !== undefined && Object(body['thinking'])['type'] !== 'disabled';
    const blocks: { block: Body; deltas: Body[] }[] = [];
    if (isThinking)
      blocks.push({
        block: { type: 'thinking', thinking: '', signature: '' },
        deltas: [
          { type: 'thinking_delta', thinking: thought },
          { type: 'signature_delta', signature: 'c2lnbmF0dXJl' },
        ],
      });
    blocks.push(
      'call' in turn
        ? {
            block: { type: 'tool_use', id: `toolu_${this.calls.length}`, name: turn.call, input: {} },
            deltas: halves(JSON.stringify(turn.input)).map((part) => ({
              type: 'input_json_delta',
              partial_json: part,
            })),
          }
        : {
            block: { type: 'text', text: '' },
            deltas: halves(turn.text).map((part) => ({ type: 'text_delta', text: part })),
          },
    );
    const message = {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model: body['model'],
      content: [],
      stop_reason: null,
      stop_sequence: null,
      usage: start,
    };
    const stop = { stop_reason: 'call' in turn ? 'tool_use' : 'end_turn', stop_sequence: null };
    if (body['stream'] !== true)
      return json({
        ...message,
        ...stop,
        usage,
        content: [{ type: 'text', text: 'text' in turn ? turn.text : '' }],
      });
    return this.stream(turn, [
      { type: 'message_start', message },
      ...blocks.flatMap(({ block, deltas }, index) => [
        { type: 'content_block_start', index, content_block: block },
        ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
        { type: 'content_block_stop', index },
      ]),
      { type: 'message_delta', delta: stop, usage },
      { type: 'message_stop' },
    ]);
  }

  private openai(body: Body): Reply {
    this.models.push(String(body['model']));
    const turn = turnFor({
      text: textIn(body['input']),
      tools: listIn(body['tools']).map(({ name }) => String(name)),
      hasResult: textIn(body['input']).includes('"function_call_output"'),
    });
    const item =
      'call' in turn
        ? {
            type: 'function_call',
            id: 'fc_1',
            call_id: `call_${this.calls.length}`,
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
    const usage = {
      input_tokens: 2200,
      input_tokens_details: { cached_tokens: 1800 },
      output_tokens: 80,
      output_tokens_details: { reasoning_tokens: 40 },
      total_tokens: 2280,
    };
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
    if (body['stream'] !== true) return json(completed);
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
    return this.stream(
      turn,
      events.map((event, index) => ({ ...event, sequence_number: index })),
    );
  }

  private google(call: ReceivedCall, body: Body): Reply {
    const [, model = ''] = /models\/([^/:]+):/.exec(call.path) ?? [];
    this.models.push(model);
    const contents = listIn(body['contents']);
    const { responseJsonSchema, responseSchema } = Object(body['generationConfig']) as Body;
    const turn = turnFor({
      text: textIn(contents),
      tools: listIn(body['tools']).flatMap(({ functionDeclarations }) =>
        listIn(functionDeclarations).map(({ name }) => String(name)),
      ),
      hasResult: textIn(contents).includes('"functionResponse"'),
      schema: responseJsonSchema ?? responseSchema,
    });
    const usageMetadata = {
      promptTokenCount: 1500,
      cachedContentTokenCount: 900,
      candidatesTokenCount: 20,
      thoughtsTokenCount: 30,
      totalTokenCount: 1550,
    };
    const chunk = (part: object, more: object = {}) => ({
      candidates: [{ content: { role: 'model', parts: [part] }, index: 0, ...more }],
      usageMetadata,
      modelVersion: model,
    });
    const last =
      'call' in turn
        ? { functionCall: { name: turn.call, args: turn.input }, thoughtSignature: 'c2ln' }
        : { text: turn.text };
    const end = chunk(last, { finishReason: 'STOP' });
    return call.path.includes(':streamGenerateContent')
      ? this.stream(turn, [chunk({ text: thought, thought: true }), end])
      : json(end);
  }

  /** Sends events with their type as their name. */
  private stream(turn: Turn, events: readonly Body[]): Reply {
    const stalls = 'text' in turn && turn.stalls === true;
    return (_call, response: ServerResponse) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.once('close', () => {
        if (!response.writableFinished) this.left += 1;
      });
      const sent = stalls ? events.slice(0, Math.max(1, events.length - 3)) : events;
      for (const event of sent) {
        const { type } = event;
        const name = typeof type === 'string' ? `event: ${type}\n` : '';
        response.write(`${name}data: ${JSON.stringify(event)}\n\n`);
      }
      if (stalls) this.stalled += 1;
      else response.end();
    };
  }
}

const halves = (text: string): string[] => [text.slice(0, 7), text.slice(7)];

/** The reason for which Anthropic would refuse a request. */
function anthropicProblem({ headers }: ReceivedCall, body: Body): string | undefined {
  const betas = String(headers['anthropic-beta']);
  if (!/^20\d\d-\d\d-\d\d$/.test(String(headers['anthropic-version'])))
    return 'anthropic-version: header is required';
  if (body['context_management'] !== undefined && !betas.includes('context-management'))
    return 'context_management: Extra inputs are not permitted';
  const isLate = listIn(body['messages']).some(({ role }) => role === 'system');
  if (isLate && !betas.includes('mid-conversation-system')) return 'messages: role system is not permitted';
  return undefined;
}
