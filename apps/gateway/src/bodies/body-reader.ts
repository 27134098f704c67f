import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { RouterError } from '#errors';
import { SETTINGS } from '#infrastructure';
import { essenceOf } from '#schemas';
import { Inject, Injectable } from '@nestjs/common';
import type { z } from 'zod';
import { sendContinue } from '../http/expectations.js';
import { BodyBlocks } from './body-blocks.js';
import { BodyBudget } from './body-budget.js';
import { callerLeft, minBytesAPeriod, periodMs, tooLarge, tooSlow } from './body-stream.js';
import { parseSmall, smallBytes } from './parse-input.js';
import type { BodySettings } from './settings.js';

/** Bytes of a body, and what gives their share of the budget back. */
interface HeldBody {
  bytes: Buffer;
  release: () => void;
}

/** For one body, in periods of 15 seconds. */
const maxPeriods = 8;

/**
 * Reads request bodies, each bounded and all together bounded. A handler reads the body only when it
 * needs it: the body of a call that is refused by its headers is never held.
 */
@Injectable()
export class BodyReader {
  constructor(
    private readonly budget: BodyBudget,
    @Inject(SETTINGS) private readonly settings: Pick<BodySettings, 'BODY_LIMIT'>,
  ) {}

  /**
   * A body of more than `maxBytes`, or than the setting allows, is refused with a 413. `seen` gets every chunk in turn, so
   * that hashing a large body is no work in one piece.
   */
  async read(
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
      const bytes = await collect(request, (size, chunk) => {
        if (size > limit) throw tooLarge(limit);
        // A busy gateway takes a small body all the same.
        if (size > smallBytes) {
          this.budget.take(workspaceId, size - share);
          share = size;
        }
        seen?.(chunk);
      });
      return { bytes, release };
    } catch (error) {
      release();
      throw error;
    }
  }

  /** The body of a call that does not go to a provider: a small object of this shape, or `invalid_input`, 400. */
  async object<Shape extends z.ZodType>(
    request: IncomingMessage,
    workspaceId: string,
    shape: Shape,
  ): Promise<z.output<Shape>> {
    const { bytes, release } = await this.read(request, workspaceId, { maxBytes: smallBytes });
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

/** `grown` receives the size so far and the chunk; when it throws, the rest of the body is discarded. */
function collect(request: IncomingMessage, grown: (size: number, chunk: Buffer) => void): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const blocks = new BodyBlocks();
    let sizeBefore = 0;
    let periods = 0;
    const settle = (result: () => void) => {
      clearInterval(pace);
      request.off('data', take).off('end', complete).off('close', lost).off('error', lost);
      result();
    };
    const discard = (reason: Error) => {
      settle(() => reject(reason));
      request.resume();
    };
    const take = (chunk: Buffer) => {
      try {
        blocks.add(chunk);
        grown(blocks.size, chunk);
      } catch (error) {
        discard(error instanceof Error ? error : new Error(String(error)));
      }
    };
    const complete = () => settle(() => resolve(joined(blocks.take(), blocks.size)));
    const lost = () => settle(() => reject(callerLeft()));
    const pace = setInterval(() => {
      periods += 1;
      if (blocks.size - sizeBefore < minBytesAPeriod || periods === maxPeriods) discard(tooSlow());
      sizeBefore = blocks.size;
    }, periodMs);
    // A connection that ended during identification announces nothing any more.
    if (request.destroyed && !request.readableEnded) lost();
    else request.on('data', take).on('end', complete).on('close', lost).on('error', lost);
  });
}

/** A turn of the event loop for each of these: memory that is touched for the first time is slow. */
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

/** Whether the headers announce plain JSON; a compressed body is something else. */
function announcesJson(headers: IncomingHttpHeaders): boolean {
  const encoding = headers['content-encoding'] ?? 'identity';
  return essenceOf(headers['content-type']) === 'application/json' && encoding.toLowerCase() === 'identity';
}
