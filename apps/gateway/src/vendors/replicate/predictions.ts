import { Readable } from 'node:stream';
import { RunReader } from '#persistence';
import { predictionMembers, predictionWithoutOutput, ReplacedMembers, routerQueueRequestId } from '#schemas';
import { Injectable } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { nameRun } from '../../answers/run-of-call.js';
import type { Caller } from '../../auth/caller.js';
import { callerGone } from '../../http/replies.js';
import { foundRun, settledHeaders } from '../../runs/found-run.js';
import { RunPayloads } from '../../runs/run-payloads.js';
import { RunWatch, unlessAway } from '../../runs/run-watch.js';
import { VendorModels } from '../vendor-models.js';
import { replicateApi } from './replicate-api.js';

interface Prediction {
  workspaceId: string;
  modelId: string;
  runId: string;
}

/** Reads runs of Replicate's models, and answers with them in Replicate's format. */
@Injectable()
export class Predictions {
  constructor(
    private readonly runs: RunReader,
    private readonly payloads: RunPayloads,
    private readonly watches: RunWatch,
    private readonly models: VendorModels,
  ) {}

  /** Throws one and the same 404 for an unknown id, and for a run of another workspace or of another vendor's model. */
  async find({ workspaceId }: Caller, id: string): Promise<Prediction> {
    const modelId = routerQueueRequestId.safeParse(id).success
      ? await this.runs.modelOf(workspaceId, id)
      : null;
    if (modelId === null || !this.models.hasId(replicateApi, modelId)) return foundRun<Prediction>(null, id);
    return { workspaceId, modelId, runId: id };
  }

  /** Waits until the prediction has ended, the time is over or the caller disconnects. */
  async wait(
    { workspaceId, modelId, runId }: Prediction,
    waitMs: number,
    reply: FastifyReply,
  ): Promise<void> {
    const over = AbortSignal.any([callerGone(reply), AbortSignal.timeout(waitMs)]);
    const watch = this.watches.begin(runId, over, 'stream');
    // The run may have ended already.
    watch.wake();
    try {
      for await (const news of watch.events()) {
        if (news === null) continue;
        const state = news.state ?? (await unlessAway(this.runs.state(workspaceId, modelId, runId)));
        if (state === null || state === 'aged_out' || state?.stage === 'completed') return;
      }
    } finally {
      watch.close();
    }
  }

  /** Answers with the prediction. `isNew`: the call began it. */
  async send(prediction: Prediction, reply: FastifyReply, { isNew = false } = {}): Promise<FastifyReply> {
    const { workspaceId, modelId, runId } = prediction;
    const run = foundRun(await this.runs.result(workspaceId, modelId, runId), runId);
    nameRun(reply, runId);
    reply
      .code(isNew ? 201 : 200)
      .headers(settledHeaders(run))
      .header('content-type', 'application/json; charset=utf-8');
    // Replicate's clients take a new prediction with any other status as one that needs no polling.
    const stage = isNew && run.stage !== 'completed' ? 'ready' : run.stage;
    const facts = { ...run, runId, stage, origin: reply.request.publicOrigin };
    if (run.output === null)
      return reply.send(predictionWithoutOutput(facts, await this.inputOf(prediction)));
    const replaced = new ReplacedMembers(predictionMembers(facts));
    const chunks = this.payloads.readOutput(reply, run.output, 0);
    // Errors must come before the first byte.
    const first = await chunks.next();
    return reply.send(Readable.from(passed(replaced, first, chunks), { objectMode: false }));
  }

  /** The input as JSON text. A large one is not repeated. */
  private async inputOf({ workspaceId, runId }: Prediction): Promise<string | undefined> {
    const input = await this.runs.input(workspaceId, runId);
    if (input === null || input === 'aged_out' || 'storedAs' in input.body) return undefined;
    return Buffer.from(input.body).toString();
  }
}

async function* passed(
  replaced: ReplacedMembers,
  first: IteratorResult<Uint8Array>,
  chunks: AsyncIterable<Uint8Array>,
): AsyncGenerator<Buffer> {
  if (first.done !== true) yield replaced.add(first.value);
  for await (const chunk of chunks) yield replaced.add(chunk);
}
