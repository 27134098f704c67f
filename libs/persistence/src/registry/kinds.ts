import type { Condition, Demands, PageAsk, Query } from './page-query.js';

/** What many nodes have in common, and all that a filter asks of them, and how many listed nodes there are of it. */
export interface NodeKind extends Demands {
  kind: string;
  status: string;
  banned: boolean;
  nodes: number;
}

/** The kinds that pass the filters; `all` is the number of those that are listed. */
export interface PassingKinds {
  kinds: readonly NodeKind[];
  all: number;
}

/** Every kind of which a node is listed. */
export const listedKinds: Query = {
  text: `
    SELECT kind, status, banned, nodes::integer AS nodes, supported_os AS "supportedOs",
      supported_accelerators AS "supportedAccelerators", supported_app_version AS "supportedAppVersion"
    FROM node_kind WHERE nodes > 0`,
  values: [],
};

export function passingKinds(ask: PageAsk, all: readonly NodeKind[]): PassingKinds {
  const passes = (kind: NodeKind) => !(ask.withoutBanned && kind.banned) && (ask.admits?.(kind) ?? true);
  return { kinds: all.filter(passes), all: all.length };
}

export const nodesOf = (kinds: readonly NodeKind[]): number =>
  kinds.reduce((sum, { nodes }) => sum + nodes, 0);

/** Lets listed nodes of these kinds through; nothing is asked when they are all kinds. */
export const ofKinds = ({ kinds, all }: PassingKinds): Condition[] => [
  () => 'kind IS NOT NULL',
  ...(kinds.length === all
    ? []
    : [((value) => `kind = ANY (${value(kinds.map(({ kind }) => kind))}::bigint[])`) satisfies Condition]),
];
