import { type Catalog, LiveCatalog, type Model, suggesting, visibleProvider } from '#catalog';
import { RouterError } from '#errors';
import { Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { type Caller, mayRun, maySee } from '../auth/caller.js';
import type { ModelSegments } from '../models/find-model.js';
import { ModelServers } from '../models/model-servers.js';
import type { ListedModel, Vendor, VendorRoute } from './vendor.js';

/** The model of a call, on the vendor's own server, and why the call may not begin a run. */
interface Target {
  row?: Model;
  segments: ModelSegments;
  picked: string | undefined;
  refusal?: RouterError;
}

/** The rows that a vendor's paths run, by every name that its clients may use. */
type Rows = ReadonlyMap<string, readonly Model[]>;

/** Finds the rows of a vendor by the names that its clients use. */
@Injectable()
export class VendorModels {
  /** A catalog never changes, so its index is made once. */
  private readonly indexes = new WeakMap<Catalog, Map<Vendor, Rows>>();

  constructor(
    private readonly catalog: LiveCatalog,
    private readonly servers: ModelServers,
  ) {}

  targetOf(caller: Caller, vendor: Vendor, route: VendorRoute, name: string): Target {
    try {
      const row = this.find(caller, vendor, route, name);
      return { row, segments: segmentsOf(row.id), picked: visibleProvider(row.id) };
    } catch (refusal) {
      if (!(refusal instanceof RouterError)) throw refusal;
      return { segments: segmentsOf(this.formerId(vendor, route, name)), picked: undefined, refusal };
    }
  }

  /** The row with this name that the path runs. Throws a 404 for a row that the caller may not see. */
  private find(caller: Caller, vendor: Vendor, route: VendorRoute, name: string): Model {
    const visible = this.named(caller, vendor, name);
    const served = visible.filter((model) => runs(vendor, route, model));
    const found = served.find(({ id }) => mayRun(caller, id)) ?? served[0];
    if (found !== undefined) return found;
    if (visible.length === 0) throw this.unknown(caller, vendor, name, route);
    const paths = pathsOf(vendor, visible).map((path) => `${vendor.base}${path}`);
    throw new RouterError('model_not_found', `This path does not run the model; ${paths.join(' or ')} does.`);
  }

  /**
   * Everything that the caller may run and that the vendor's paths run, in the order of the catalog. Rows with the
   * same name are one model that several paths run.
   */
  list(caller: Caller, vendor: Vendor): ListedModel[] {
    const rows = new Set([...this.rowsOf(vendor).values()].flat());
    const byName = new Map<string, [Model, ...Model[]]>();
    for (const model of this.catalog.current.models) {
      if (!rows.has(model) || !this.isListed(caller, model)) continue;
      const name = vendor.nameOf(model);
      const known = byName.get(name);
      if (known === undefined) byName.set(name, [model]);
      else known.push(model);
    }
    return [...byName.values()].map((same) => listed(vendor, same));
  }

  /** One model of the list. Throws a 404 for any other name. */
  listedModel(caller: Caller, vendor: Vendor, name: string): ListedModel {
    const [found, ...others] = this.named(caller, vendor, name).filter((model) =>
      this.isListed(caller, model),
    );
    if (found === undefined) throw this.unknown(caller, vendor, name);
    return listed(vendor, [found, ...others]);
  }

  /** The id of a row that the caller may no longer see, or that was removed. A retry collects its run by this id. */
  private formerId(vendor: Vendor, route: VendorRoute, name: string): string {
    const rows = this.rowsOf(vendor).get(name) ?? [];
    const row = rows.find((model) => runs(vendor, route, model)) ?? rows[0];
    return row?.id ?? this.catalog.current.idOf(this.idFor(vendor, name, route));
  }

  private isListed(caller: Caller, model: Model): boolean {
    return this.isVisible(caller, model) && mayRun(caller, model.id) && this.servers.hasKey(caller, model);
  }

  /** Models end by date, within one revision of the catalog. */
  private isVisible(caller: Caller, { id }: Model): boolean {
    return maySee(caller, id) && this.catalog.current.find(id) !== undefined;
  }

  private named(caller: Caller, vendor: Vendor, name: string): Model[] {
    return (this.rowsOf(vendor).get(name) ?? []).filter((model) => this.isVisible(caller, model));
  }

  private unknown(caller: Caller, vendor: Vendor, name: string, route?: VendorRoute): RouterError {
    const rows = this.rowsOf(vendor);
    const isOfVendor = (model: Model) =>
      (rows.get(vendor.nameOf(model)) ?? []).includes(model) && maySee(caller, model.id);
    const ids = this.catalog.current.suggest(this.idFor(vendor, name, route), isOfVendor);
    const names = ids
      .flatMap((id) => this.catalog.current.find(id) ?? [])
      .map((model) => vendor.nameOf(model));
    return new RouterError('model_not_found', `There is no such model.${suggesting([...new Set(names)])}`);
  }

  /** Whether the id is that of a model of the vendor, which may have been removed: their ids begin alike. */
  hasId(vendor: Vendor, id: string): boolean {
    return visibleProvider(id) === this.prefixOf(vendor);
  }

  /** The id that a row with this name would have. */
  private idFor(vendor: Vendor, name: string, route?: VendorRoute): string {
    return `${this.prefixOf(vendor, route)}/${name.slice(name.lastIndexOf('/') + 1)}`;
  }

  private prefixOf(vendor: Vendor, route?: VendorRoute): string {
    const provider = providerOf(vendor, route);
    const row = [...this.rowsOf(vendor).values()].flat().find((model) => model.provider === provider);
    return row === undefined ? provider : visibleProvider(row.id);
  }

  private rowsOf(vendor: Vendor): Rows {
    const catalog = this.catalog.current;
    let byVendor = this.indexes.get(catalog);
    if (byVendor === undefined) this.indexes.set(catalog, (byVendor = new Map<Vendor, Rows>()));
    let rows = byVendor.get(vendor);
    if (rows === undefined) byVendor.set(vendor, (rows = indexed(catalog, vendor)));
    return rows;
  }
}

/** The name of the model in the path of a call, with its owner if the path has one. */
export function nameInPath({ params }: FastifyRequest): string | undefined {
  const { owner, model } = params as { owner?: string; model?: string };
  return owner === undefined ? model : `${owner}/${model}`;
}

/**
 * The provider's name of the row, where a body names the row by its id or an alias, which the provider does not know.
 * Undefined if the body has the provider's name, or no name that finds the row.
 */
export function upstreamName(
  { id, aliases, constants }: Model,
  name: string | undefined,
): string | undefined {
  const upstream = constants?.['model'];
  const isOurs = name !== undefined && [id, ...aliases].some((each) => namesOf(each).includes(name));
  return isOurs && typeof upstream === 'string' && upstream !== name ? upstream : undefined;
}

/** An id, and its part that vendors use. */
const namesOf = (id: string): string[] => [id, id.slice(id.indexOf('/') + 1)];

function segmentsOf(id: string): ModelSegments {
  const provider = visibleProvider(id);
  return { provider, model: id.slice(provider.length + 1) };
}

function indexed({ models }: Catalog, vendor: Vendor): Rows {
  const rows = new Map<string, Model[]>();
  const add = (name: string, model: Model) => {
    const known = rows.get(name);
    if (known === undefined) rows.set(name, [model]);
    else if (!known.includes(model)) known.push(model);
  };
  const own = models.filter((model) => pathsOf(vendor, [model]).length > 0);
  // A row’s own name takes precedence over another row’s alias.
  for (const model of own) add(vendor.nameOf(model), model);
  for (const model of own) {
    for (const name of [...model.snapshots, ...[model.id, ...model.aliases].flatMap(namesOf)])
      add(name, model);
  }
  return rows;
}

const providerOf = (vendor: Vendor, route?: VendorRoute): string => route?.provider ?? vendor.provider;

const runs = (vendor: Vendor, route: VendorRoute, model: Model): boolean =>
  model.provider === providerOf(vendor, route) && route.serves(model);

const pathsOf = (vendor: Vendor, models: readonly Model[]): string[] =>
  vendor.routes.filter((route) => models.some((model) => runs(vendor, route, model))).map(({ path }) => path);

/** Rows with the same name as one model, described as the first of them. */
const listed = (vendor: Vendor, models: readonly [Model, ...Model[]]): ListedModel => ({
  name: vendor.nameOf(models[0]),
  title: models[0].title ?? models[0].id,
  description: models[0].description ?? '',
  paths: pathsOf(vendor, models),
});
