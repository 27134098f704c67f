import { type CursorContext, openCursor, sealCursor } from '#catalog';
import type { Page } from '#schemas';
import type { SigningSettings } from '#storage';
import { z } from 'zod';
import { once, pageSize } from './query.pipe.js';

/** The query of a list; `limit` is the page size that is served. */
export const pageQuery = z.object({
  cursor: once().optional().meta({
    description: '`next_cursor` of the page before; left out for the first page. It expires after 24 hours.',
  }),
  limit: pageSize(z.string({ error: 'must be an integer' }), 20),
});

/** Reads one page of a list, behind the place that its cursor is sealed for: one row more than it has says whether others follow. */
export async function listPage<Row, Entry>(
  { cursor, limit }: z.output<typeof pageQuery>,
  list: NonNullable<CursorContext['list']>,
  { SIGNING_SECRET: secrets }: SigningSettings,
  {
    read,
    placeOf,
    entryOf,
  }: {
    read: (page: { after: string | undefined; limit: number }) => Promise<Row[]>;
    placeOf: (row: Row) => string;
    entryOf: (row: Row) => Entry | Promise<Entry>;
  },
): Promise<Page<Entry>> {
  const sealing = { list, secrets, nowMs: Date.now() } as const;
  const after = cursor === undefined ? undefined : openCursor(cursor, sealing);
  const found = await read({ after, limit: limit + 1 });
  const page = found.slice(0, limit);
  const last = found.length > limit ? page.at(-1) : undefined;
  return {
    data: await Promise.all(page.map(entryOf)),
    has_more: last !== undefined,
    ...(last !== undefined && { next_cursor: sealCursor(placeOf(last), sealing) }),
    limit,
  };
}
