import type { DemandKind, Registry } from '#persistence';
import { contains } from './version-range.js';
import type { NodeAsk } from './node-ask.js';

const anySystem = 'OS Independent';

type Platform = Pick<NodeAsk, 'systems' | 'accelerator' | 'appVersion'>;
type Meets = (demands: readonly string[]) => boolean;

/** The marks of the demands that the platform meets, one list for each kind that is asked for. */
export async function metDemands(
  registry: Registry,
  platform: Platform,
): Promise<Partial<Record<DemandKind, string[]>>> {
  const meeting = questions(platform);
  const kinds = Object.keys(meeting) as DemandKind[];
  if (kinds.length === 0) return {};
  const met = Object.fromEntries(kinds.map((kind): [DemandKind, string[]] => [kind, []]));
  for (const { mark, kind, demands } of await registry.demands(kinds)) {
    if (meeting[kind]?.(demands)) met[kind]?.push(mark);
  }
  return met;
}

function questions({ systems, accelerator, appVersion }: Platform): Partial<Record<DemandKind, Meets>> {
  return {
    ...(systems.length > 0 && {
      os: (demands) => systems.every((system) => lists(demands, system, anySystem)),
    }),
    ...(accelerator !== undefined && { accelerator: (demands) => lists(demands, accelerator) }),
    ...(appVersion !== undefined && {
      app: (ranges) => ranges.every((range) => contains(range, appVersion)),
    }),
  };
}

/** A list covers a value when it is empty, or has the value, an ancestor of it (`A` of `A :: B`) or the joker. */
const lists = (listed: readonly string[], value: string, joker?: string): boolean =>
  listed.length === 0 ||
  listed.some((each) => each === value || each === joker || value.startsWith(`${each} :: `));
