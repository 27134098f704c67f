import { createHmac, timingSafeEqual } from 'node:crypto';
import { z } from 'zod';
import { RouterError } from '#errors';
import { routerPageCursor } from '#schemas';

const dayMs = 24 * 60 * 60 * 1000;

/** `secrets`: the newest first; a cursor is sealed with that one and opened with any of them. `list`: what it is a place in. */
export interface CursorContext {
  list?:
    'catalog' | 'requests' | 'deliveries' | 'files' | 'uploads' | 'keys' | 'workspaces' | 'stuck' | 'failed';
  secrets: readonly string[];
  nowMs: number;
}

const content = z.strictObject({ after: z.string(), untilMs: z.int() });

/** An opaque, signed cursor that stands behind `lastId`; valid for `ttlMs`, a day by default. */
export function sealCursor(
  lastId: string,
  { list = 'catalog', secrets, nowMs, ttlMs = dayMs }: CursorContext & { ttlMs?: number },
): string {
  const [secret] = secrets;
  if (secret === undefined) throw new Error('no secret to sign cursors with');
  const payload = Buffer.from(JSON.stringify({ after: lastId, untilMs: nowMs + ttlMs })).toString(
    'base64url',
  );
  return `${payload}.${signature(list, payload, secret)}`;
}

/** The id the cursor stands behind. Malformed, forged or expired: `invalid_input`, 400. */
export function openCursor(cursor: string, { list = 'catalog', secrets, nowMs }: CursorContext): string {
  const [payload = ''] = cursor.split('.', 1);
  const wellFormed = routerPageCursor.safeParse(cursor).success;
  if (
    !wellFormed ||
    !secrets.some((secret) => same(`${payload}.${signature(list, payload, secret)}`, cursor))
  ) {
    throw new RouterError('invalid_input', 'The cursor is malformed; pass next_cursor back unchanged.');
  }
  const { after, untilMs } = content.parse(JSON.parse(Buffer.from(payload, 'base64url').toString()));
  if (untilMs <= nowMs) {
    throw new RouterError('invalid_input', 'The cursor has expired; start again from the first page.');
  }
  return after;
}

// The purpose is part of what is signed: the same secret signs other things, which must not pass as cursors.
const signature = (list: string, payload: string, secret: string): string =>
  createHmac('sha256', secret).update(`${list}-cursor.${payload}`).digest('base64url');

// Texts are compared, not decoded bytes: base64url has several spellings of the same bytes.
function same(expected: string, given: string): boolean {
  const [one, other] = [Buffer.from(expected), Buffer.from(given)];
  return one.length === other.length && timingSafeEqual(one, other);
}
