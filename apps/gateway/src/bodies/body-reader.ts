import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { RouterError } from '#errors';
import { SETTINGS } from '#infrastructure';
import { Metrics } from '#observability';
import { essenceOf } from '#schemas';
import { Inject, Injectable } from '@nestjs/common';
import type { z } from 'zod';
import { sendContinue } from '../http/expectations.js';
import { WorkspaceShares } from '../http/workspace-shares.js';
import { BodyBlocks } from './body-blocks.js';
import { bodyStream, tooLarge } from './body-stream.js';
import { parseSmall, smallBytes } from './parse-input.js';
import type { BodySettings } from './settings.js';

/** The bytes of a body; `release` gives back their share of the budget. */
interface HeldBody {
  bytes: Buffer;
  release: () => void;
}

/** Time limit for receiving one body. */
const maxMs = 120_000;

/** The memory budget for large bodies of one gateway, in bytes, shared among workspaces. */
@Injectable()
export class BodyBudget extends WorkspaceShares {
  constructor(@Inject(SETTINGS) { BODY_BUDGET }: Pick<BodySettings, 'BODY_BUDGET'>, metrics: Metrics) {
    const refusals = {
      reason: 'large_bodies',
      own: () =>
        new RouterError(
          'concurrency_limit_exceeded',
          'The workspace has too many large requests in flight; retry when one finishes.',
        ),
      others: () =>
        new RouterError('service_unavailable', 'The service is busy with large requests; retry later.', {
          internal: 'the budget for bodies in flight is used up',
        }),
    };
    super(BODY_BUDGET, refusals, metrics);
  }
}

/**
 * Reads request bodies, with a limit for each and a limit for all. A handler reads the body only when it needs it, so
 * the body of a call that is rejected by its headers is never held.
 */
@Injectable()
export class BodyReader {
  constructor(
    private readonly budget: BodyBudget,
    @Inject(SETTINGS) private readonly settings: Pick<BodySettings, 'BODY_LIMIT'>,
  ) {}

  /**
   * Rejects a body larger than `maxBytes` or than the setting with a 413. `seen` gets each chunk as it arrives, so
   * that hashing a large body does not block the event loop.
   */
  async readBody(
    request: IncomingMessage,
    workspaceId: string,
    { maxBytes = Infinity, seen }: { maxBytes?: number; seen?: (chunk: Buffer) => void } = {},
  ): Promise<HeldBody> {
    const announced = Number(request.headers['content-length'] ?? 0);
    const hasBody = announced > 0 || request.headers['transfer-encoding'] !== undefined;
    if (hasBody && !announcesJson(request.headers)) {
      throw new RouterError(
        'invalid_input',
        'The body must be sent as application/json, without a Content-Encoding.',
        { status: 415 },
      );
    }
    const limit = Math.min(this.settings.BODY_LIMIT, maxBytes);
    if (announced > limit) throw tooLarge(limit);
    sendContinue(request);
    let share = 0;
    const release = () => {
      this.budget.giveBack(workspaceId, share);
      share = 0;
    };
    try {
      const blocks = new BodyBlocks();
      for await (const chunk of bodyStream(request, limit, maxMs)) {
        blocks.add(chunk);
        // A busy gateway still accepts small bodies.
        if (blocks.size > smallBytes) {
          this.budget.take(workspaceId, blocks.size - share);
          share = blocks.size;
        }
        seen?.(chunk);
      }
      return { bytes: await joined(blocks.take(), blocks.size), release };
    } catch (error) {
      release();
      throw error;
    }
  }

  /**
   * Reads the small body of a call that does not go to a provider. Throws `invalid_input`, 400, unless it has this
   * shape.
   */
  async readObject<Shape extends z.ZodType>(
    request: IncomingMessage,
    workspaceId: string,
    shape: Shape,
  ): Promise<z.output<Shape>> {
    const { bytes, release } = await this.readBody(request, workspaceId, { maxBytes: smallBytes });
    try {
      const parsed = shape.safeParse(parseSmall(bytes));
      if (parsed.success) return parsed.data;
      const [issue] = parsed.error.issues;
      throw new RouterError('invalid_input', `${issue?.path.join('.') || 'The body'}: ${issue?.message}.`);
    } finally {
      release();
    }
  }
}

/** Bytes copied per turn of the event loop, because touching memory for the first time is slow. */
const joinedAtOnce = 1024 * 1024;

async function joined(blocks: Buffer[], size: number): Promise<Buffer> {
  const [first] = blocks;
  if (blocks.length === 1 && first !== undefined) return first;
  const whole = Buffer.allocUnsafeSlow(size);
  let filled = 0;
  let turnAt = joinedAtOnce;
  for (const block of blocks) {
    filled += block.copy(whole, filled);
    if (filled < turnAt) continue;
    turnAt = filled + joinedAtOnce;
    await nextTurn();
  }
  return whole;
}

/** Whether the headers announce JSON that is not compressed. */
function announcesJson(headers: IncomingHttpHeaders): boolean {
  const encoding = headers['content-encoding'] ?? 'identity';
  return essenceOf(headers['content-type']) === 'application/json' && encoding.toLowerCase() === 'identity';
}
