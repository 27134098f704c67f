import { setTimeout as pause } from 'node:timers/promises';
import { type CallToolResult, createMcpHandler, McpServer } from '@modelcontextprotocol/server';
import { release } from '#observability';
import { routerModelId, routerQueueRequestId } from '#schemas';
import { z } from 'zod';
import type { OwnRoutes, RouteAnswer } from './own-routes.js';
import { bodyOf, failureOf, failureResult, outputResult, textResult } from './tool-results.js';

/** Below the minute after which clients time out a tool call. */
const maxWaitS = 45;
const maxPauseMs = 2_000;

const model = routerModelId.describe('Model id: provider and model, joined by a slash.');
/** Agents fill optional arguments with null or an empty text; both count as omitted. */
const optional = <Shape extends z.ZodType>(shape: Shape) =>
  z.preprocess((value) => (value === null || value === '' ? undefined : value), shape.optional()).optional();
const waiting = optional(z.int().min(0).max(maxWaitS)).describe(
  `How long to wait for the result, in seconds (default ${maxWaitS}). A run that takes longer keeps running.`,
);

const instructions =
  'Runs generative models from many providers. Find a model, read its schema, then run it. A run that does not finish within the wait keeps running: follow it with get_run. Each run costs money, so do not repeat a run that is still in progress. URLs in results work for 24 hours.';

/** `signal` aborts when the caller disconnects. A stopping gateway accepts no calls, not even its own. */
interface Terms {
  signal: AbortSignal;
  isStopping: () => boolean;
}

/** Answers one message. */
export const mcpHandler = (...parts: Parameters<typeof mcpServer>) =>
  createMcpHandler(() => mcpServer(...parts));

/**
 * A server for one request, whose tools call the gateway's own routes. `runInput` is the input of a run as raw bytes,
 * as on any other route, because parsing loses digits of a 64-bit seed.
 */
function mcpServer(
  routes: OwnRoutes,
  runInput: Buffer | undefined,
  { signal, isStopping }: Terms,
): McpServer {
  const server = new McpServer({ name: 'model-router', version: release.version }, { instructions });

  server.registerTool(
    'find_models',
    {
      description: 'Lists the models that you can run, ordered by id, 20 per page.',
      inputSchema: z.object({
        query: optional(z.string()).describe('Words in the name or description.'),
        provider: optional(z.string()).describe('The first part of the model id.'),
        modality: optional(z.enum(['text', 'image', 'video', 'audio', '3d'])).describe('The kind of output.'),
        cursor: optional(z.string()).describe('next_cursor of the previous page.'),
      }),
      annotations: { readOnlyHint: true },
    },
    async ({ query, ...others }) => {
      const given = Object.entries({ view: 'full', q: query, ...others });
      const parameters = new URLSearchParams(
        given.filter((each): each is [string, string] => each[1] !== undefined),
      );
      return asText(await routes('GET', `/v2/models?${parameters.toString()}`));
    },
  );

  server.registerTool(
    'describe_model',
    {
      description:
        'Shows the input and output of a model, as an OpenAPI document with an example, and its price.',
      inputSchema: z.object({ model }),
      annotations: { readOnlyHint: true },
    },
    async (input) => asText(await routes('GET', `/v2/models/${input.model}/openapi.json`)),
  );

  server.registerTool(
    'run_model',
    {
      description: 'Runs a model and waits for its result. The run is billed.',
      inputSchema: z.object({
        model,
        input: z
          .record(z.string(), z.unknown())
          .describe('The input of the model, as describe_model shows it.'),
        idempotency_key: optional(z.string()).describe(
          'Names the run: the same input with the same key collects that run instead of starting another.',
        ),
        wait_seconds: waiting,
      }),
    },
    async ({ model: id, idempotency_key: idempotencyKey, wait_seconds: waitS = maxWaitS }) => {
      const options = {
        ...(runInput !== undefined && { body: runInput }),
        ...(idempotencyKey !== undefined && { idempotencyKey }),
      };
      const submitted = await routes('POST', `/v2/models/${id}/requests`, options);
      if (submitted.status !== 201) return failureResult(submitted);
      const { request_id: requestId } = await bodyOf(submitted);
      return followed(id, String(requestId), waitS);
    },
  );

  server.registerTool(
    'get_run',
    {
      description: 'Follows a run: returns its result if it finishes within the wait, otherwise its state.',
      inputSchema: z.object({ model, request_id: routerQueueRequestId, wait_seconds: waiting }),
      annotations: { readOnlyHint: true },
    },
    async (input) => followed(input.model, input.request_id, input.wait_seconds ?? maxWaitS),
  );

  server.registerTool(
    'cancel_run',
    {
      description:
        'Requests the cancellation of a run. A run that was submitted to the provider may still complete and be billed.',
      inputSchema: z.object({ model, request_id: routerQueueRequestId }),
    },
    async (input) => {
      const answer = await routes('PUT', `/v2/models/${input.model}/requests/${input.request_id}/cancel`);
      const body = await bodyOf(answer);
      return body['status'] === undefined ? failureOf(answer, body) : textResult(body);
    },
  );

  async function followed(id: string, requestId: string, waitS: number): Promise<CallToolResult> {
    const endsAtMs = performance.now() + waitS * 1000;
    const path = `/v2/models/${id}/requests/${requestId}`;
    const unfinished = (state: object) =>
      textResult({
        model: id,
        request_id: requestId,
        ...state,
        next: 'Not finished yet: call get_run with this model and request_id.',
      });
    for (let pauseMs = 250; ; pauseMs = Math.min(pauseMs * 1.5, maxPauseMs)) {
      // The run will be billed, so return its id: the caller can follow it at another gateway.
      if (isStopping()) return unfinished({});
      const status = await routes('GET', `${path}/status`);
      if (status.status !== 200) return failureResult(status);
      const state = await bodyOf(status);
      const run = { model: id, ...state };
      if (state['status'] === 'COMPLETED') {
        if (isStopping()) return unfinished(state);
        const result = await routes('GET', path);
        return result.status === 200 ? outputResult(result, run) : failureResult(result);
      }
      if (performance.now() + pauseMs > endsAtMs) return unfinished(state);
      await pause(pauseMs, undefined, { signal });
    }
  }

  return server;
}

const asText = async (answer: RouteAnswer): Promise<CallToolResult> =>
  answer.status === 200 ? textResult(await bodyOf(answer)) : failureResult(answer);
