import { existsSync } from 'node:fs';
import path from 'node:path';
import type { Catalog, Model } from '#catalog';
import { packageRoot } from '#schemas';

/** What the catalog has of one id of a list. */
interface CoveredId {
  id: string;
  /** `alias` and `ended` have the catalog's own id beside them, `missing` has nothing. */
  state: 'known' | 'alias' | 'ended' | 'missing';
  model?: string;
  /** Of one that has ended: the day, where it was read, and what to use instead. */
  ended?: string;
  source?: string;
  successor?: string;
  provider?: string;
  input?: 'open' | 'closed' | 'any object';
  /** Whether the row says where its price was read. */
  priced?: boolean;
  /** Whether the simulator of this checkout plays its provider. */
  simulated?: boolean;
}

export interface Coverage {
  counts: Record<CoveredId['state'] | 'open' | 'closed' | 'priced' | 'simulated', number>;
  ids: CoveredId[];
}

/** Holds the catalog against ids that others know: one a line, or a JSON object a line that has an `id`. */
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
  if (typeof id !== 'string') throw new Error(`entry ${entry} of the list has no id`);
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

/** Of a row that says only that it has ended, or of a model whose end has come. */
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
