import { existsSync } from 'node:fs';
import path from 'node:path';
import type { Catalog, Model } from '#catalog';
import { packageRoot } from '#schemas';

/** The state in the catalog of one id of the list. */
interface CoveredId {
  id: string;
  /** For `alias` and `ended`, `model` is the catalog's own id; for `missing` it is absent. */
  state: 'known' | 'alias' | 'ended' | 'missing';
  model?: string;
  /** For an ended model: its last day, the source of that date, and its successor. */
  ended?: string;
  source?: string;
  successor?: string;
  provider?: string;
  input?: 'open' | 'closed' | 'any object';
  /** Whether the row names the source of its price. */
  priced?: boolean;
  /** Whether the simulator in this checkout simulates its provider. */
  simulated?: boolean;
}

export interface Coverage {
  counts: Record<CoveredId['state'] | 'open' | 'closed' | 'priced' | 'simulated', number>;
  ids: CoveredId[];
}

/** Compares the catalog with a list of ids. Each line is an id or a JSON object with an `id`. */
export function coverageOf(catalog: Catalog, list: string): Coverage {
  const ids = idsOf(list).map((id) => covered(catalog, id));
  const count = (counts: (each: CoveredId) => boolean) => ids.filter(counts).length;
  return {
    counts: {
      known: count(({ state }) => state === 'known'),
      alias: count(({ state }) => state === 'alias'),
      ended: count(({ state }) => state === 'ended'),
      missing: count(({ state }) => state === 'missing'),
      open: count(({ input }) => input === 'open'),
      closed: count(({ input }) => input === 'closed'),
      priced: count(({ priced }) => priced === true),
      simulated: count(({ simulated }) => simulated === true),
    },
    ids,
  };
}

function idsOf(list: string): string[] {
  const lines = list.split('\n').map((line) => line.trim());
  return lines
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line, index) => (line.startsWith('{') ? idIn(line, index + 1) : line));
}

function idIn(line: string, entry: number): string {
  const { id } = JSON.parse(line) as { id?: unknown };
  if (typeof id !== 'string') throw new Error(`Entry ${entry} of the list has no id.`);
  return id;
}

function covered(catalog: Catalog, id: string): CoveredId {
  const model = catalog.find(id);
  if (model === undefined) {
    const name = catalog.idOf(id);
    const gone = endedModel(catalog, name);
    return gone ? { id, state: 'ended', model: name, ...gone } : { id, state: 'missing' };
  }
  return {
    id,
    state: model.id === id ? 'known' : 'alias',
    model: model.id,
    provider: model.provider,
    input: inputOf(model),
    priced: model.price.source !== undefined,
    simulated: existsSync(path.join(packageRoot(), `apps/simulator/replies/${model.provider}.yaml`)),
  };
}

/** The end of a model that has ended: either it has a row only for that, or its last day has passed. */
function endedModel(
  { models, ended }: Catalog,
  name: string,
): Pick<CoveredId, 'ended' | 'source' | 'successor'> | undefined {
  const row = ended.find(({ id }) => id === name);
  if (row) return { ended: row.ended, source: row.source, successor: row.successor };
  const model = models.find(({ id }) => id === name);
  return model && { ended: model.ends, successor: model.successor };
}

function inputOf({ isAuthored, input }: Model): CoveredId['input'] {
  if (!isAuthored) return 'any object';
  return input.additionalProperties === false ? 'closed' : 'open';
}
