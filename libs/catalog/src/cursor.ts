import { z } from 'zod';
import { RouterError } from '#errors';
import { isSigned, routerPageCursor, signatureOf } from '#schemas';

const dayMs = 24 * 60 * 60 * 1000;

/**
 * `secrets` has the newest first, which seals cursors; any of them opens one. `list` is the list that the cursor
 * belongs to.
 */
export interface CursorContext {
  list?:
    | 'catalog'
    | 'budget-values'
    | 'requests'
    | 'refusals'
    | 'deliveries'
    | 'ledger'
    | 'files'
    | 'uploads'
    | 'keys'
    | 'workspaces'
    | 'actions'
    | 'stuck'
    | 'failed';
  secrets: readonly string[];
  nowMs: number;
}

const content = z.strictObject({ after: z.string(), untilMs: z.int() });

/** An opaque, signed cursor for the position after `lastId`. It is valid for `ttlMs`, a day by default. */
export function sealCursor(
  lastId: string,
  { list = 'catalog', secrets, nowMs, ttlMs = dayMs }: CursorContext & { ttlMs?: number },
): string {
  const payload = Buffer.from(JSON.stringify({ after: lastId, untilMs: nowMs + ttlMs })).toString(
    'base64url',
  );
  return `${payload}.${signatureOf(signedText(list, payload), secrets)}`;
}

/** The id before the position of the cursor. Throws `invalid_input` (400) if it is malformed, forged or expired. */
export function openCursor(cursor: string, { list = 'catalog', secrets, nowMs }: CursorContext): string {
  const [payload = ''] = cursor.split('.', 1);
  const signature = cursor.slice(payload.length + 1);
  const wellFormed = routerPageCursor.safeParse(cursor).success;
  if (!wellFormed || !isSigned(signedText(list, payload), signature, secrets)) {
    throw new RouterError('invalid_input', 'The cursor is malformed; pass next_cursor back unchanged.');
  }
  const { after, untilMs } = content.parse(JSON.parse(Buffer.from(payload, 'base64url').toString()));
  if (untilMs <= nowMs) {
    throw new RouterError('invalid_input', 'The cursor has expired; start again from the first page.');
  }
  return after;
}

const signedText = (list: string, payload: string): string => `${list}-cursor.${payload}`;
