import {
  type Catalog,
  entry,
  fullEntry,
  LiveCatalog,
  type Model,
  oncePerModel,
  openCursor,
  sealCursor,
} from '#catalog';
import { SETTINGS } from '#infrastructure';
import { routerModelListResponse, routerModelPage } from '#schemas';
import type { SigningSettings } from '#storage';
import { Controller, Get, Inject, Req } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { LRUCache } from 'lru-cache';
import type { z } from 'zod';
import { type Caller, mayRun, maySee } from '../auth/caller.js';
import { Access, Calling } from '../auth/caller.guard.js';
import { pageQuery, readQuery } from '../http/query.pipe.js';
import { asJson } from '../http/replies.js';
import { answer, ApiRoute, failure, json } from '../http/api-route.js';
import { isMeant, modelQuery } from './model-query.js';
import { ModelServers } from './model-servers.js';

const listModels = {
  name: 'ListModels',
  area: 'Catalog',
  summary: 'List the models that can be run',
  description:
    'One page of the catalog, ordered by id: the models that the caller may see and run. Continue with `next_cursor` while `has_more` is true; a short page is not the end.',
} as const;
const badQuery = failure(400, ['invalid_input'], 'The cursor has expired, or a parameter is malformed.');

const shortText = oncePerModel((model) => JSON.stringify(entry(model)));
const fullText = oncePerModel((model) => JSON.stringify(fullEntry(model)));

/** A page as it was sent, and whom and what it was made for. */
interface SentPage {
  caller: Caller;
  catalog: Catalog;
  body: Buffer;
}

const sentPagesBytes = 8 * 1024 * 1024;
/** A page says which models have a provider's key, and what is known of that is two seconds old. */
const sentPageMs = 1_000;

/** The models that the caller may both see and run: on v2 also searched, and in full. */
@Controller()
export class ModelListsController {
  private readonly sentPages = new LRUCache<string, SentPage>({
    maxSize: sentPagesBytes,
    sizeCalculation: ({ body }, name) => body.length + 2 * name.length,
    ttl: sentPageMs,
  });

  constructor(
    private readonly catalog: LiveCatalog,
    private readonly servers: ModelServers,
    @Inject(SETTINGS) private readonly settings: SigningSettings,
  ) {}

  @Get('v1/models')
  @asJson
  @Access({ scope: 'catalog' })
  @ApiRoute({
    ...listModels,
    query: pageQuery,
    answers: [answer(200, 'One page.', json(routerModelListResponse)), badQuery],
  })
  list(@Calling() caller: Caller, @Req() request: FastifyRequest): Buffer {
    return this.sent(caller, request, () =>
      this.page(caller, readQuery(pageQuery, request.query), shortText),
    );
  }

  @Get('v2/models')
  @asJson
  @Access({ scope: 'catalog' })
  @ApiRoute({
    ...listModels,
    query: modelQuery,
    answers: [answer(200, 'One page.', json(routerModelPage)), badQuery],
  })
  search(@Calling() caller: Caller, @Req() request: FastifyRequest): Buffer {
    return this.sent(caller, request, () => {
      const query = readQuery(modelQuery, request.query);
      return this.page(caller, query, query.view === 'full' ? fullText : shortText);
    });
  }

  /**
   * The page that the caller got a moment ago, unless its access or the catalog has changed since. Its query is not read
   * again: that was an eighth of its time.
   */
  private sent(caller: Caller, { url }: FastifyRequest, page: () => string): Buffer {
    const name = `${caller.credential} ${url}`;
    const catalog = this.catalog.current;
    const known = this.sentPages.get(name);
    if (known?.caller === caller && known.catalog === catalog) return known.body;
    const body = Buffer.from(page());
    this.sentPages.set(name, { caller, catalog, body });
    return body;
  }

  private page(
    caller: Caller,
    { cursor, limit, ...query }: z.output<typeof modelQuery>,
    textOf: (model: Model) => string,
  ): string {
    const sealing = { secrets: this.settings.SIGNING_SECRET, nowMs: Date.now() };
    const request: Parameters<Catalog['page']>[0] = {
      ...(cursor !== undefined && { cursorAfterId: openCursor(cursor, sealing) }),
      limit,
      filter: (model) =>
        maySee(caller, model.id) &&
        mayRun(caller, model.id) &&
        this.servers.isServed(caller, model) &&
        isMeant(model, query),
    };
    const { models, hasMore } = this.catalog.current.page(request);
    const last = models.at(-1);
    const end = JSON.stringify({
      has_more: hasMore,
      ...(hasMore && last !== undefined && { next_cursor: sealCursor(last.id, sealing) }),
      limit,
    });
    return `{"data":[${models.map(textOf).join()}],${end.slice(1)}`;
  }
}
