import type { NodeFacet } from '#persistence';
import type { NodeQuery } from './node-query.js';
import { contains } from './version-range.js';

const anySystem = 'OS Independent';

/** Whether a node runs on the caller's platform; undefined when the query says nothing of it. */
export function platformFilter(query: NodeQuery): ((facet: NodeFacet) => boolean) | undefined {
  const { operatingSystems, accelerator, appVersion } = query;
  if (operatingSystems.length === 0 && accelerator === undefined && appVersion === undefined)
    return undefined;
  const inRange = appVersion === undefined ? () => true : rangeTest(appVersion);
  return ({ supportedOs, supportedAccelerators, supportedAppVersion }) =>
    operatingSystems.every((system) => covers(supportedOs, system, anySystem)) &&
    (accelerator === undefined || covers(supportedAccelerators, accelerator)) &&
    inRange(supportedAppVersion);
}

/** A list covers a value when it is empty, or has the value, an ancestor of it (`A` of `A :: B`) or the wildcard. */
const covers = (listed: readonly string[], value: string, wildcard?: string): boolean =>
  listed.length === 0 ||
  listed.some((each) => each === value || each === wildcard || value.startsWith(`${each} :: `));

/** Many facets have the same range, and parsing one is slow. */
function rangeTest(version: string): (range: string | null) => boolean {
  const known = new Map<string, boolean>();
  return (range) => {
    if (range === null) return true;
    const contained = known.get(range) ?? contains(range, version);
    known.set(range, contained);
    return contained;
  };
}
