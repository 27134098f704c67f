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
import { routerModality, routerModelListResponse, routerModelPage, routerProviderSegment } from '#schemas';
import type { SigningSettings } from '#storage';
import { Controller, Get, Inject, Req } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { LRUCache } from 'lru-cache';
import { z } from 'zod';
import type { Caller } from '../auth/caller.js';
import { Access, Calling } from '../auth/caller.guard.js';
import { once, pageQuery, readQuery } from '../http/query.pipe.js';
import { asJson } from '../http/replies.js';
import { answer, ApiRoute, failure, json } from '../http/api-route.js';
import { MeasuredModels } from './measured-models.js';
import { isListed, ModelServers } from './model-servers.js';

const listModels = {
  name: 'ListModels',
  area: 'Catalog',
  summary: 'List the models that can be run',
  description:
    'The models that the caller may see and run, ordered by id. Continue with `next_cursor` while `has_more` is true; a short page is not necessarily the last one.',
} as const;
const badQuery = failure(400, ['invalid_input'], 'The cursor has expired, or a parameter is malformed.');

const shortText = oncePerModel((model) => JSON.stringify(entry(model)));
const fullText = oncePerModel((model) => JSON.stringify(fullEntry(model)));
const simulatedText = oncePerModel((model) => JSON.stringify({ ...fullEntry(model), simulated: true }));

/** The query of a v2 list of models: the page, the view and the filters. */
const modelQuery = pageQuery.extend({
  view: z.enum(['full'], { error: 'must be full' }).optional().meta({
    description:
      '`full` adds the title, description, modalities, price, lifecycle and aliases to each entry, its measured time and success rate, and whether the simulator serves it.',
  }),
  provider: once()
    .refine((text) => routerProviderSegment.safeParse(text).success, { error: 'must be a provider' })
    .optional()
    .meta({ description: 'Only models of this provider.' }),
  modality: z
    .enum(routerModality.options, { error: `must be one of ${routerModality.options.join(', ')}` })
    .optional()
    .meta({ description: 'Only models whose output has this modality.' }),
  q: once()
    .min(1, 'must not be empty')
    .max(200, 'must have at most 200 characters')
    .optional()
    .meta({ description: 'Only models with all these words in their ids, title or description.' }),
});

/** A page that was sent, with the caller and the catalog that it was made for. */
interface SentPage {
  caller: Caller;
  catalog: Catalog;
  body: Buffer;
}

const sentPagesBytes = 8 * 1024 * 1024;
/** Short, because a page depends on which providers have a key, which may change every two seconds. */
const sentPageMs = 1_000;

/** Lists the models that the caller may see and run. v2 adds a search and a full view. */
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
    private readonly measured: MeasuredModels,
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
      const fullTextOf = (model: Model) => {
        const text = this.servers.isSimulated(caller, model) ? simulatedText(model) : fullText(model);
        const measured = this.measured.of(model.id);
        return measured === undefined ? text : `${text.slice(0, -1)},"measured":${JSON.stringify(measured)}}`;
      };
      return this.page(caller, query, query.view === 'full' ? fullTextOf : shortText);
    });
  }

  /**
   * The page that the caller got a moment ago, unless its access or the catalog has changed since. The query is not
   * parsed again, which took an eighth of the time.
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
    { cursor, limit, q = '', ...query }: z.output<typeof modelQuery>,
    textOf: (model: Model) => string,
  ): string {
    const isMeant = matching(query);
    const sealing = { secrets: this.settings.SIGNING_SECRET, nowMs: Date.now() };
    const request: Parameters<Catalog['page']>[0] = {
      ...(cursor !== undefined && { cursorAfterId: openCursor(cursor, sealing) }),
      limit,
      words: q.split(/\s+/).filter((word) => word !== ''),
      // The query first, because it is cheaper than permissions and rules out most of thousands of models.
      filter: (model) => isMeant(model) && isListed(this.servers, caller, model),
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

type ModelQuery = Pick<z.output<typeof modelQuery>, 'provider' | 'modality'>;

/** Returns whether a model matches the filters. */
const matching =
  ({ provider, modality }: ModelQuery) =>
  ({ id, modalities }: Model): boolean =>
    (provider === undefined || id.startsWith(`${provider}/`)) &&
    (modality === undefined || modalities?.out.includes(modality) === true);
