import { Readable } from 'node:stream';
import { SETTINGS } from '#infrastructure';
import { LedgerReader, type LedgerRange, type ListedEntry, ledgerEntryView } from '#persistence';
import { csvLine, type RouterLedgerEntry, routerLedgerResponse, tagsText } from '#schemas';
import type { SigningSettings } from '#storage';
import { Controller, Get, Inject, Query, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { Access, Calling } from '../auth/caller.guard.js';
import type { Caller } from '../auth/caller.js';
import { listPage, momentQuery, once, pageQuery, QueryPipe } from '../http/query.pipe.js';
import { noBody } from '../http/replies.js';
import { answer, ApiRoute, failure, json } from '../http/api-route.js';

/** Number of entries in memory, however long the ledger is. */
const csvRows = 1_000;

const ledgerQuery = pageQuery.extend({
  from: momentQuery('Only entries made at or after this time.'),
  to: momentQuery('Only entries made before this time.'),
  format: once()
    .pipe(z.enum(['json', 'csv'], 'must be json or csv'))
    .optional()
    .meta({
      description:
        '`csv` returns all entries as CSV, without pages, as does `Accept: text/csv`. The default is `json`.',
    }),
});

/** The columns of the CSV. */
const columns: Record<string, (entry: RouterLedgerEntry) => string | number | null> = {
  id: ({ id }) => id,
  created_at: ({ created_at }) => created_at,
  kind: ({ kind }) => kind,
  amount_cents: ({ amount_cents }) => amount_cents,
  balance_cents: ({ balance_cents }) => balance_cents ?? null,
  request_id: ({ request_id }) => request_id ?? null,
  model: ({ model }) => model ?? null,
  cost_basis: ({ cost_basis }) => cost_basis ?? null,
  tags: ({ tags }) => tagsText(tags) || null,
  user: ({ user }) => user ?? null,
  budgets: ({ budgets }) => budgets?.join(',') ?? null,
};

const csvOf = (entries: readonly ListedEntry[]): string =>
  entries
    .map(ledgerEntryView)
    .map((entry) => csvLine(Object.values(columns).map((valueOf) => valueOf(entry))))
    .join('');

@Controller('v2/ledger')
export class LedgerController {
  constructor(
    private readonly ledger: LedgerReader,
    @Inject(SETTINGS) private readonly settings: SigningSettings,
  ) {}

  @Get()
  @Access({ scope: 'usage' })
  @ApiRoute({
    name: 'ListLedger',
    area: 'Account',
    summary: 'List the changes of the credits of the workspace',
    description:
      'Bills, refunds, and credits that were added or taken back, newest first, as long as they are kept (13 months by default). A bill or a refund names its run, with the tags, the end user and the budgets that counted it. The amounts add up to the credits. Continue with `next_cursor` while `has_more` is true.',
    query: ledgerQuery,
    answers: [
      answer(200, 'One page, or all entries as CSV.', { ...json(routerLedgerResponse), 'text/csv': null }),
      failure(400, ['invalid_input'], 'The cursor is malformed or has expired, or a parameter is invalid.'),
    ],
  })
  async list(
    @Calling() { workspaceId }: Caller,
    @Query(new QueryPipe(ledgerQuery)) { format, from, to, ...query }: z.output<typeof ledgerQuery>,
    @Req() { headers, method }: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const range = { from, until: to };
    const isCsv = format === undefined ? /\btext\/csv\b/i.test(headers.accept ?? '') : format === 'csv';
    reply.header('vary', 'Accept');
    if (!isCsv) {
      const page = await listPage(query, 'ledger', this.settings, {
        read: (place) => this.ledger.page(workspaceId, range, place),
        placeOf: ({ id }) => id,
        entryOf: ledgerEntryView,
      });
      return void reply.send(page);
    }
    // Read before the headers are sent, so that a failure is an ordinary error.
    const first = method === 'HEAD' ? [] : await this.ledger.page(workspaceId, range, { limit: csvRows });
    const body = method === 'HEAD' ? noBody() : Readable.from(this.csv(workspaceId, range, first));
    void reply
      .header('content-type', 'text/csv; charset=utf-8')
      .header('content-disposition', 'attachment; filename="ledger.csv"')
      .send(body);
  }

  /** Reads the next page when the caller has taken the last one. */
  private async *csv(
    workspaceId: string,
    range: LedgerRange,
    first: readonly ListedEntry[],
  ): AsyncGenerator<string> {
    yield csvLine(Object.keys(columns));
    for (let page = first; ;) {
      if (page.length > 0) yield csvOf(page);
      const after = page.length < csvRows ? undefined : page.at(-1)?.id;
      if (after === undefined) return;
      page = await this.ledger.page(workspaceId, range, { after, limit: csvRows });
    }
  }
}
