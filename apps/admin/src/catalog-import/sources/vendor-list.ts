import type { Model } from '#catalog';
import { providerList } from '#providers';
import { type Source, unpublished } from '../draft.js';
import type { SourceApi } from '../source-api.js';

interface Vendor {
  /** The provider whose key and base URL read the list. */
  reader: string;
  /** The providers whose rows serve the vendor's models. */
  providers: readonly string[];
  headers: (key: string) => Record<string, string>;
  query: readonly (readonly [string, string])[];
  names: (list: unknown) => unknown[];
}

const bearer = (key: string) => ({ authorization: `Bearer ${key}` });
const idsOf = (list: unknown) => entriesAt(list, 'data').map(({ id }) => id);
const entriesAt = (list: unknown, member: string) =>
  [(Object(list) as Record<string, unknown>)[member]]
    .flat()
    .map((entry) => Object(entry) as Record<string, unknown>);

/**
 * Vendors that list the names of their models, and nothing from which a row could be made.
 * Sources: developers.openai.com/api/reference/resources/models, platform.claude.com/docs/en/api/models,
 * ai.google.dev/api/models, docs.x.ai/docs/api-reference; read on 29 November 2026.
 */
const vendors: Readonly<Record<string, Vendor>> = {
  openai: { reader: 'openai', providers: ['openai'], headers: bearer, query: [], names: idsOf },
  xai: { reader: 'xai', providers: ['xai'], headers: bearer, query: [], names: idsOf },
  anthropic: {
    reader: 'anthropic',
    providers: ['anthropic'],
    headers: (key) => ({ 'x-api-key': key, 'anthropic-version': '2023-06-01' }),
    query: [['limit', '1000']],
    names: idsOf,
  },
  google: {
    reader: 'gemini-interactions',
    providers: ['google', 'gemini-interactions'],
    headers: (key) => ({ 'x-goog-api-key': key }),
    query: [['pageSize', '1000']],
    names: (list) => entriesAt(list, 'models').map(({ name }) => String(name).replace(/^models\//, '')),
  },
};

/** The vendor of that name. */
export const vendorOf = (name: string): (Vendor & { base: string }) | undefined => {
  const vendor = Object.hasOwn(vendors, name) ? vendors[name] : undefined;
  const base = providerList.find((each) => each.name === vendor?.reader)?.defaultBase;
  return vendor && base !== undefined ? { ...vendor, base } : undefined;
};

/** Finds models without a row, and rows whose model the vendor no longer lists. */
export function vendorSource({ reader, query, names }: Vendor, api: SourceApi): Source {
  let reading: Promise<Set<string>> | undefined;
  const read = () => (reading ??= listedNames(api, query, names));
  return {
    provider: reader,
    comparesPrice: () => false,
    nameOf: nameAtVendor,
    async *drafts(wanted = []) {
      const listed = await read();
      for (const name of wanted) if (!listed.has(name)) yield { name, skipped: unpublished };
    },
    async *names() {
      for (const name of await read()) yield { name };
    },
  };
}

/** Throws if the answer names nothing, because then every row would count as removed. */
async function listedNames(api: SourceApi, query: Vendor['query'], names: Vendor['names']) {
  const found = names(await api.get('/models', query)).filter((name) => typeof name === 'string');
  if (found.length === 0) throw new Error(`${api.base}/models lists no models`);
  return new Set(found);
}

function nameAtVendor({ id, constants }: Model): string {
  const { model } = constants ?? {};
  return typeof model === 'string' ? model : id.slice(id.indexOf('/') + 1);
}
