import { setTimeout as pause } from 'node:timers/promises';
import type { CallToolResult, McpServer } from '@modelcontextprotocol/server';
import { routerQueueRequestId, routerQueueStatus } from '#schemas';
import { z } from 'zod';
import { model, optional, optionalNumber, runInput } from './arguments.js';
import type { OwnRoutes } from './own-routes.js';
import {
  bodyOf,
  failureResult,
  failureToFind,
  outputResult,
  structuredResult,
  unknownFieldsIn,
} from './tool-results.js';

/** Below the minute after which clients time out a tool call. */
const maxWaitS = 45;
const maxPauseMs = 2_000;

const waiting = optionalNumber(z.int().min(0).max(maxWaitS)).describe(
  `How long to wait for the result, in seconds (default ${maxWaitS}). A run that takes longer keeps running.`,
);

const runState = z.looseObject({
  model: z.string(),
  request_id: z.string(),
  status: z.string().optional(),
  cost_cents: z.number().optional(),
  output: z.unknown().optional(),
  files: z.array(z.looseObject({ url: z.string(), media_type: z.string() })).optional(),
  next: z.string().optional(),
  unknown_fields: z.string().optional(),
});
const cancellation = z.looseObject({ request_id: z.string(), status: z.string() });
const listedRun = z.looseObject({
  request_id: z.string(),
  model: z.string(),
  status: z.string(),
  outcome: z.string().optional(),
  error_type: z.string().optional(),
  created_at: z.string(),
  cost_cents: z.number().optional(),
  simulated: z.literal(true).optional(),
});
const listedRuns = z.looseObject({ runs: z.array(listedRun), next_cursor: z.string().optional() });

/** `signal` aborts when the caller disconnects. A stopping gateway accepts no calls, not even its own. */
export interface Terms {
  signal: AbortSignal;
  isStopping: () => boolean;
}

/** Tools that start, follow, cancel and list runs. */
export function registerRunTools(
  server: McpServer,
  routes: OwnRoutes,
  input: Buffer | undefined,
  { signal, isStopping }: Terms,
): void {
  server.registerTool(
    'run_model',
    {
      title: 'Run a model',
      description: 'Runs a model and waits for its result. The run is billed.',
      inputSchema: z.object({
        model,
        input: runInput,
        idempotency_key: optional(z.string()).describe(
          'Names the run: the same input with the same key collects that run instead of starting another.',
        ),
        wait_seconds: waiting,
      }),
      outputSchema: runState,
      annotations: { readOnlyHint: false, destructiveHint: false, openWorldHint: true },
    },
    async ({ model: id, idempotency_key: idempotencyKey, wait_seconds: waitS = maxWaitS }) => {
      const options = {
        ...(input !== undefined && { body: input }),
        ...(idempotencyKey !== undefined && { idempotencyKey }),
      };
      const submitted = await routes('POST', `/v2/models/${id}/requests`, options);
      if (submitted.status !== 201) return failureResult(submitted);
      const { request_id: requestId } = await bodyOf(submitted);
      return followed(id, String(requestId), waitS, unknownFieldsIn(submitted));
    },
  );

  server.registerTool(
    'get_run',
    {
      title: 'Get a run',
      description: 'Follows a run: returns its result if it finishes within the wait, otherwise its state.',
      inputSchema: z.object({ model, request_id: routerQueueRequestId, wait_seconds: waiting }),
      outputSchema: runState,
      annotations: { readOnlyHint: true, openWorldHint: false },
    },
    async (given) => followed(given.model, given.request_id, given.wait_seconds ?? maxWaitS),
  );

  server.registerTool(
    'cancel_run',
    {
      title: 'Cancel a run',
      description:
        'Requests the cancellation of a run. A run that was submitted to the provider may still complete and be billed.',
      inputSchema: z.object({ model, request_id: routerQueueRequestId }),
      outputSchema: cancellation,
      annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
    },
    async (given) => {
      const answer = await routes('PUT', `/v2/models/${given.model}/requests/${given.request_id}/cancel`);
      const body = await bodyOf(answer);
      return body['status'] === undefined ? failureToFind(answer, body) : structuredResult(body);
    },
  );

  server.registerTool(
    'list_runs',
    {
      title: 'List runs',
      description: 'Lists the runs of your workspace, newest first: their state, and what was billed.',
      inputSchema: z.object({
        model: optional(model),
        status: optional(z.enum(routerQueueStatus.options)),
        limit: optionalNumber(z.int().min(1).max(50)).describe('How many (default 10).'),
        cursor: optional(z.string()).describe('next_cursor of the previous page.'),
      }),
      outputSchema: listedRuns,
      annotations: { readOnlyHint: true, openWorldHint: false },
    },
    async ({ limit = 10, ...filters }) => {
      const given = Object.entries({ limit: String(limit), ...filters });
      const query = new URLSearchParams(
        given.filter((each): each is [string, string] => each[1] !== undefined),
      );
      const answer = await routes('GET', `/v2/requests?${query.toString()}`);
      if (answer.status !== 200) return failureResult(answer);
      const { data, next_cursor: next } = await bodyOf(answer);
      const runs = z.array(listedRun.strip()).parse(data);
      return structuredResult({ runs, ...(typeof next === 'string' && { next_cursor: next }) });
    },
  );

  async function followed(
    id: string,
    requestId: string,
    waitS: number,
    facts: object = {},
  ): Promise<CallToolResult> {
    const endsAtMs = performance.now() + waitS * 1000;
    const path = `/v2/models/${id}/requests/${requestId}`;
    const unfinished = (state: object) =>
      structuredResult({
        model: id,
        request_id: requestId,
        ...facts,
        ...state,
        next: 'Not finished yet: call get_run with this model and request_id.',
      });
    for (let pauseMs = 250; ; pauseMs = Math.min(pauseMs * 1.5, maxPauseMs)) {
      // The run will be billed, so return its id: the caller can follow it at another gateway.
      if (isStopping()) return unfinished({});
      const status = await routes('GET', `${path}/status`);
      const state = await bodyOf(status);
      if (status.status !== 200) return failureToFind(status, state);
      const run = { model: id, ...facts, ...state };
      if (state['status'] === 'COMPLETED') {
        if (isStopping()) return unfinished(state);
        const result = await routes('GET', path);
        return result.status === 200 ? outputResult(result, run) : failureResult(result);
      }
      if (performance.now() + pauseMs > endsAtMs) return unfinished(state);
      await pause(pauseMs, undefined, { signal });
    }
  }
}
