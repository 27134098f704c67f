import { RouterError } from '#errors';
import { type KeepResult, KeptRunRepository, type RunResult } from '#persistence';
import { AssetStore } from '#storage';
import { Injectable } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { type Output, outputOf } from './found-run.js';
import { RunPayloads } from './run-payloads.js';

/** Limits how long the sizes of a run's objects may take. */
const sizesMs = 10_000;

/** A link to a kept file works this long from the start of its hour, so that browsers can cache the file meanwhile. */
const linkSeconds = 24 * 3600;
const hourMs = 3_600_000;

/** A longer output is sent with the links that it was stored with. Links are in short outputs. */
const maxRewrittenBytes = 8 * 1024 * 1024;

/** Keeps runs without expiry, and renews the links in their outputs. */
@Injectable()
export class KeptRuns {
  constructor(
    private readonly runs: KeptRunRepository,
    private readonly store: AssetStore,
    private readonly payloads: RunPayloads,
  ) {}

  /** Null for an unknown run. Throws a 503 if the store does not answer. */
  async keep(workspaceId: string, runId: string): Promise<KeepResult | null> {
    return this.runs.keep(workspaceId, runId, await this.objectsOf(runId));
  }

  async unkeep(workspaceId: string, runId: string): Promise<void> {
    await this.runs.unkeep(workspaceId, runId);
  }

  /** The output of a finished run: see `outputOf`. Expired links in a kept one are signed again. */
  async output(reply: FastifyReply, runId: string, result: RunResult): Promise<Output> {
    const output = outputOf(result);
    const isJson = /[/+]json\b/.test(output.mediaType);
    if (result.isKept === undefined || !isJson || reply.request.method === 'HEAD') return output;
    const chunks: Uint8Array[] = [];
    let bytes = 0;
    for await (const chunk of this.payloads.readOutput(reply, output, 0)) {
      chunks.push(chunk);
      bytes += chunk.length;
      if (bytes > maxRewrittenBytes) return output;
    }
    return { ...output, body: await this.withFreshLinks(Buffer.concat(chunks).toString(), runId) };
  }

  private async withFreshLinks(text: string, runId: string): Promise<Buffer> {
    const link = new RegExp(`https?://[^\\s"\\\\]*/(runs/${runId}/assets/[\\w.-]+)\\?[^\\s"\\\\]*`, 'g');
    const fresh = new Map<string, string>();
    const nowMs = Math.floor(Date.now() / hourMs) * hourMs;
    for (const [url, key = ''] of text.matchAll(link)) {
      if (!fresh.has(url))
        fresh.set(url, await this.store.sign(key, { expiresInSeconds: linkSeconds, nowMs }));
    }
    return Buffer.from(text.replaceAll(link, (url) => fresh.get(url) ?? url));
  }

  /** The run's stored objects with their sizes. Throws a 503 if the store does not answer. */
  async objectsOf(runId: string): Promise<{ key: string; bytes: number }[]> {
    const objects = [];
    try {
      const listing = this.store.list(`runs/${runId}/`, AbortSignal.timeout(sizesMs));
      for await (const { key, bytes } of listing) objects.push({ key, bytes });
    } catch (error) {
      throw new RouterError(
        'service_unavailable',
        'The service cannot reach its store for files; retry later.',
        {
          internal: 'the objects of a run were not listed',
          cause: error,
        },
      );
    }
    return objects;
  }
}
