import type { GivenNode } from './registry-side.js';

export interface NaiveQuery {
  page?: number;
  limit?: number;
  supported_os?: string;
  supported_accelerator?: string;
  include_banned?: boolean;
  timestamp?: string;
  sort?: string[];
  node_id?: string[];
  app_version?: string;
  form_factor?: string;
}

export interface NaiveNode extends GivenNode {
  name: string;
  status: string;
  created_at: string;
  supported_os?: string[];
  supported_accelerators?: string[];
  /** Whole major versions, from inclusive and below exclusive, so that the model needs no parser of ranges. */
  app?: { from: number; below: number };
  publisher?: { id: string; status?: string };
  versions: { version: string; createdAt: string; status: string }[];
}

const aliases: Record<string, string> = {
  create_time: 'created_at',
  total_install: 'downloads',
  total_star: 'github_stars',
  total_review: 'rating',
  last_updated: 'updated_at',
  update_time: 'updated_at',
  last_algolia_index_time: 'updated_at',
  normalized_id: 'id',
};

/** The rules again, as plainly as possible: filter everything, sort everything, cut. */
export function naivePage(nodes: readonly NaiveNode[], query: NaiveQuery) {
  const limit = query.limit === undefined || query.limit <= 0 ? 10 : Math.min(query.limit, 100);
  const page = Math.max(query.page ?? 1, 1);
  const found = nodes.filter((node) => isListed(node, query));
  const keys = [...(query.sort ?? []), 'id'];
  found.sort((a, b) => {
    for (const key of keys) {
      const [name = '', descending] = key.split(';');
      const order = compare(valueOf(a, aliases[name] ?? name), valueOf(b, aliases[name] ?? name));
      if (order !== 0) return descending ? -order : order;
    }
    return 0;
  });
  const shown = found.slice((page - 1) * limit, page * limit);
  return {
    ids: shown.map(({ id }) => id),
    latest: shown.map((node) => newest(node)?.version),
    page,
    limit,
    total: found.length,
    totalPages: Math.ceil(found.length / limit),
  };
}

function isListed(node: NaiveNode, query: NaiveQuery): boolean {
  const isBanned = node.status === 'NodeStatusBanned' || node.publisher?.status === 'PublisherStatusBanned';
  const systems = [query.supported_os, systemOf(query.form_factor)].filter((each) => each !== undefined);
  const major = query.app_version === undefined ? undefined : Number(query.app_version.split('.')[0]);
  return (
    node.status !== 'NodeStatusDeleted' &&
    !(query.include_banned === false && isBanned) &&
    systems.every(
      (system) => covers(node.supported_os, system) || node.supported_os?.includes('OS Independent'),
    ) &&
    (query.supported_accelerator === undefined ||
      covers(node.supported_accelerators, query.supported_accelerator)) &&
    (major === undefined || node.app === undefined || (node.app.from <= major && major < node.app.below)) &&
    (query.node_id === undefined || query.node_id.includes(node.id)) &&
    (query.timestamp === undefined || updatedMs(node) > Date.parse(query.timestamp))
  );
}

function systemOf(formFactor: string | undefined): string | undefined {
  if (formFactor === undefined) return undefined;
  if (formFactor.endsWith('-win') || formFactor.endsWith('-windows')) return 'Microsoft :: Windows';
  if (formFactor.endsWith('-mac')) return 'MacOS';
  return formFactor.endsWith('-linux') ? 'POSIX :: Linux' : undefined;
}

/** Whether the value or one of its ancestors is listed, or nothing is. */
function covers(listed: string[] | undefined, value: string): boolean {
  if (listed === undefined || listed.length === 0) return true;
  const parts = value.split(' :: ');
  return parts.some((_part, index) => listed.includes(parts.slice(0, index + 1).join(' :: ')));
}

const updatedMs = (node: NaiveNode): number =>
  Math.max(
    ...[node.created_at, ...node.versions.map(({ createdAt }) => createdAt)].map((each) => Date.parse(each)),
  );

function newest(node: NaiveNode) {
  return node.versions
    .filter(({ status }) => status === 'NodeVersionStatusActive')
    .sort(
      (a, b) => compare(Date.parse(b.createdAt), Date.parse(a.createdAt)) || compare(b.version, a.version),
    )[0];
}

type Value = string | number | undefined;

function valueOf(node: NaiveNode, column: string): Value {
  if (column === 'created_at') return Date.parse(node.created_at);
  return column === 'updated_at' ? updatedMs(node) : (node[column] as Value);
}

/** Missing values sort first; texts sort by their bytes. */
function compare(a: Value, b: Value): number {
  if (a === b) return 0;
  if (a === undefined) return -1;
  if (b === undefined) return 1;
  if (typeof a === 'number' && typeof b === 'number') return a - b;
  return Buffer.compare(Buffer.from(String(a)), Buffer.from(String(b)));
}
