import type { ServerResponse } from 'node:http';
import { json, type ReceivedCall, type Reply, ScriptedServer } from '../../harness/index.js';
import { askedInChat, askedInResponses, chatReply, responsesReply } from './openai-replies.js';
import { type Body, halves, listIn, textIn, toolOf, type Turn, turnFor } from './turns.js';

const thought = 'A short thought comes first.';

/**
 * The APIs of three vendors, as strict as they are about members that need a header and about tools in Chat Completions, and with
 * thoughts, caches and tools in their streams.
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
    const problem = vendor === 'anthropic' ? anthropicProblem(call, body) : chatProblem(call, body);
    if (problem !== undefined) {
      this.refused.push(problem);
      return json({ type: 'error', error: { type: 'invalid_request_error', message: problem } }, 400);
    }
    switch (vendor) {
      case 'anthropic':
        return this.anthropic(body);
      case 'openai':
        return this.openai(call, body);
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
      tools: listIn(body['tools']).map(({ name, input_schema }) => toolOf(name, input_schema)),
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
    const content =
      'call' in turn
        ? { type: 'tool_use', id: `toolu_${this.calls.length}`, name: turn.call, input: turn.input }
        : { type: 'text', text: turn.text };
    blocks.push(
      'call' in turn
        ? {
            block: { ...content, input: {} },
            deltas: halves(JSON.stringify(turn.input)).map((part) => ({
              type: 'input_json_delta',
              partial_json: part,
            })),
          }
        : {
            block: { ...content, text: '' },
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
    if (body['stream'] !== true) return json({ ...message, ...stop, usage, content: [content] });
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

  private openai(call: ReceivedCall, body: Body): Reply {
    this.models.push(String(body['model']));
    const isChat = call.path.includes('/chat/completions');
    const turn = turnFor(isChat ? askedInChat(body) : askedInResponses(body));
    const { whole, events } = (isChat ? chatReply : responsesReply)(body, turn, `call_${this.calls.length}`);
    return body['stream'] === true ? this.stream(turn, events, isChat ? '[DONE]' : undefined) : json(whole);
  }

  private google(call: ReceivedCall, body: Body): Reply {
    const [, model = ''] = /models\/([^/:]+):/.exec(call.path) ?? [];
    this.models.push(model);
    const contents = listIn(body['contents']);
    const { responseJsonSchema, responseSchema } = Object(body['generationConfig']) as Body;
    const turn = turnFor({
      text: textIn(contents),
      tools: listIn(body['tools']).flatMap(({ functionDeclarations }) =>
        listIn(functionDeclarations).map(({ name, parameters }) => toolOf(name, parameters)),
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

  /** Sends events with their type as their name, and a last line for the vendors that have one. */
  private stream(turn: Turn, events: readonly Body[], lastLine?: string): Reply {
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
      else response.end(lastLine === undefined ? undefined : `data: ${lastLine}\n\n`);
    };
  }
}

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

/** The reason for which OpenAI would refuse a request to Chat Completions. */
function chatProblem({ path }: ReceivedCall, body: Body): string | undefined {
  const model = String(body['model']);
  const isRefused = /^gpt-(5\.6|6)/.test(model) && body['reasoning_effort'] !== 'none';
  return path.includes('/chat/completions') && isRefused && listIn(body['tools']).length > 0
    ? `Function tools with reasoning_effort are not supported for ${model} in /v1/chat/completions.`
    : undefined;
}
