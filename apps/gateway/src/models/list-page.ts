import { openCursor, sealCursor } from '#catalog';
import type { z } from 'zod';
import type { pageQuery } from './page-query.js';
import type { GatewaySettings } from '../settings.js';

/** Reads one page of a list that is sorted by id, newest first: one row more than it has says whether others follow. */
export async function listPage<Row, Entry>(
  { cursor, limit }: z.output<typeof pageQuery>,
  list: 'requests' | 'deliveries' | 'files',
  { SIGNING_SECRET: secrets }: Pick<GatewaySettings, 'SIGNING_SECRET'>,
  {
    read,
    idOf,
    entryOf,
  }: {
    read: (page: { before: string | undefined; limit: number }) => Promise<Row[]>;
    idOf: (row: Row) => string;
    entryOf: (row: Row) => Entry | Promise<Entry>;
  },
): Promise<{ data: Entry[]; has_more: boolean; next_cursor?: string; limit: number }> {
  const sealing = { list, secrets, nowMs: Date.now() } as const;
  const before = cursor === undefined ? undefined : openCursor(cursor, sealing);
  const found = await read({ before, limit: limit + 1 });
  const page = found.slice(0, limit);
  const last = found.length > limit ? page.at(-1) : undefined;
  return {
    data: await Promise.all(page.map(entryOf)),
    has_more: last !== undefined,
    ...(last !== undefined && { next_cursor: sealCursor(idOf(last), sealing) }),
    limit,
  };
}
