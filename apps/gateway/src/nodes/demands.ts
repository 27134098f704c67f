import type { Demands } from '#persistence';
import { contains } from './version-range.js';
import type { NodeAsk } from './node-ask.js';

const anySystem = 'OS Independent';

type Platform = Pick<NodeAsk, 'systems' | 'accelerator' | 'appVersion'>;

/** Whether a platform meets what a node asks for; undefined when the platform says nothing of itself. */
export function platformTest(platform: Platform): ((demands: Demands) => boolean) | undefined {
  const { systems, accelerator, appVersion } = platform;
  if (systems.length === 0 && accelerator === undefined && appVersion === undefined) return undefined;
  const inRange = appVersion === undefined ? () => true : rangeTest(appVersion);
  return ({ supportedOs, supportedAccelerators, supportedAppVersion }) =>
    systems.every((system) => lists(supportedOs, system, anySystem)) &&
    (accelerator === undefined || lists(supportedAccelerators, accelerator)) &&
    inRange(supportedAppVersion);
}

/** A list covers a value when it is empty, or has the value, an ancestor of it (`A` of `A :: B`) or the joker. */
const lists = (listed: readonly string[], value: string, joker?: string): boolean =>
  listed.length === 0 ||
  listed.some((each) => each === value || each === joker || value.startsWith(`${each} :: `));

/** Many kinds of nodes have the same range, and to read one takes long. */
function rangeTest(version: string): (range: string | null) => boolean {
  const verdicts = new Map<string, boolean>();
  return (range) => {
    if (range === null) return true;
    const verdict = verdicts.get(range) ?? contains(range, version);
    verdicts.set(range, verdict);
    return verdict;
  };
}
