import { type Json, type JsonPointer, spellingsOf } from '#schemas';
import type { AccountReports } from '../condition.js';
import type { HttpCall, ProviderAdapter, ProviderDefinition, Run } from '../contract.js';
import {
  assetFields,
  type Encoding,
  envelope,
  forceFalse,
  form,
  jsonBody,
  segmentOf,
  withoutMembers,
  withSet,
} from '../encodings.js';
import { sentenceFields } from '../fields.js';
import { job } from '../job.js';
import type { HandleFields, Kept } from '../job-spec.js';
import { protocols } from '../protocols.js';
import { checkOf, checkProblems } from './check-shape.js';
import { exchangeOf, headersOf } from './credential-shape.js';
import { type RowProblem, rowProblems } from './row-problems.js';
import { conditionOf } from './rule-shape.js';
import { type ProtocolRow, protocolsOf, providerRow, type ProviderRow } from './shape.js';
import { streamSpecOf, streamTermsOf } from './stream-shape.js';
import { placeholderProblems } from './placeholder-problems.js';
import { filled, filledJson, inputNamesIn } from './templates.js';

/** The provider that a file of a catalog directory declares, or the file's problems. */
export function declaredProvider(
  given: unknown,
): { definition: ProviderDefinition } | { definition?: undefined; problems: readonly RowProblem[] } {
  const parsed = providerRow.safeParse(given, { reportInput: true });
  if (!parsed.success) return { problems: rowProblems(parsed.error.issues) };
  const problems: RowProblem[] = protocolsOf(parsed.data).flatMap(([name, row]) =>
    Array.from(placeholderProblems(row), ({ path, message }) => ({
      path: name === '' ? path : ['protocols', name, ...path],
      message,
    })),
  );
  problems.push(...checkProblems(parsed.data));
  return problems.length > 0 ? { problems } : { definition: definitionOf(parsed.data) };
}

/** Builds the definition from a checked row. */
export function definitionOf(row: ProviderRow): ProviderDefinition {
  const several = protocolsOf(row);
  const protocolOf = ({ protocol = several[0]?.[0] }: Readonly<Record<string, string>>) =>
    several.find(([name]) => name === protocol)?.[1] ?? several[0]?.[1];
  return {
    name: row.provider,
    defaultBase: row.base,
    submitTimeoutMs: Math.max(...several.map(([, { submit }]) => submit.timeout_seconds)) * 1000,
    takesBothSpellings: row.snake_and_camel_case,
    tokenCount: (upstream) => protocolOf(upstream)?.token_count?.upstream,
    inputHeaders: row.input_headers,
    declaration: JSON.stringify(row),
    account: row.account && accountOf(row.account),
    check: checkOf(row),
    streams: (upstream) => {
      const { stream } = protocolOf(upstream) ?? {};
      return stream && streamTermsOf(stream);
    },
    refusesTrue: (upstream) => {
      const { submit, stream } = protocolOf(upstream) ?? {};
      const names = [submit?.encode, submit?.variant?.encode].flatMap(forcedNames);
      return [...new Set(names)].filter((name) => name !== stream?.member);
    },
    callerTools: (upstream) => protocolOf(upstream)?.caller_tools,
    providerTools: (upstream) => protocolOf(upstream)?.provider_tools,
    create: (base) => {
      const adapters = several.map(([name, protocol]) => [name, adapterOf(protocol, base)] as const);
      const [[, only] = []] = adapters;
      return only && adapters.length === 1 ? only : protocols(Object.fromEntries(adapters));
    },
  };
}

function adapterOf(row: ProtocolRow, base: string): ProviderAdapter {
  const { submit, handle, poll, fetch, cancel, rejections } = row;
  const ofRun = (run: Run) => (name: string) => {
    if (name === 'base') return base;
    if (name.startsWith('input.')) return segmentOf(run, name.slice('input.'.length));
    return run.upstream[name.slice('upstream.'.length)];
  };
  const inSubmit = (run: Run) => (template: string) => {
    const text = filled(template, ofRun(run));
    if (text === undefined) throw new Error(`model ${run.model} has no values for ${template}`);
    return text;
  };
  // A value from the provider must stay one segment of our URL; a path from the row may have several.
  const isOurs = (name: string) => handle?.[name] !== undefined && 'upstream' in handle[name];
  const asked = (call: DeclaredCall) => (kept: Kept<HandleFields>) => callOf(call, base, kept, isOurs);
  const called = (call: DeclaredCall) => (kept: Kept<HandleFields>) => {
    const made = asked(call)(kept);
    if (!made) throw new Error('the handle lacks a value that the declaration of the provider now needs');
    return made;
  };
  const spelled = (path: JsonPointer) => (row.snake_and_camel_case ? spellingsOf(path) : [path]);
  const common = {
    base,
    credentialOrigins: row.credential_origins.map(originsLike),
    assetsNeedKey: row.assets_need_key,
    assetsFromBase: row.assets_from_base,
    exchange: row.credential && exchangeOf(row.credential),
    auth: authOf(row),
    authQuery: (secret: string) => mapped(row.auth_query, withSecret(secret)),
    submit: {
      url: (run: Run) => inSubmit(run)(submit.url),
      headers: (run: Run) => ({ ...mapped(submit.headers ?? {}, inSubmit(run)), ...run.headers }),
      encode: bodyOf(submit),
      variant: submit.variant && {
        contains: submit.variant.contains,
        url: (run: Run) => filled(submit.variant?.url ?? '', ofRun(run)),
        encode: bodyOf(submit.variant),
      },
      base64: submit.base64?.flatMap(({ path, ...place }) =>
        spelled(path).map((each) => ({ ...place, path: each })),
      ),
      upload: submit.upload && {
        ...submit.upload,
        paths: submit.upload.paths.flatMap(spelled),
        url: filled(submit.upload.url, () => base) ?? '',
      },
      retryStatuses: submit.retry_statuses,
    },
    uniqueHeader: row.unique_header,
    account: row.account && accountOf(row.account),
    rules: row.rules.map(conditionOf),
    successWhen: row.success_when?.map((given) => [given].flat().map(conditionOf)),
    retryAfter: row.retry_after,
    resultPaths: row.result_paths,
    fileResults: row.file_results,
    stream: row.stream && streamSpecOf(base, row.stream),
    fields: rejections && sentenceFields(rejections),
  };
  if (poll === undefined || handle === undefined) return job(common);
  const { status, statuses, progress, interval_seconds: intervalSeconds } = poll;
  return job({
    ...common,
    handle,
    poll: { call: called(poll), status, statuses, everyMs: intervalSeconds * 1000, progress },
    fetch: fetch && { call: called(fetch) },
    cancel: cancel && { call: asked(cancel), replies: cancel.replies },
  });
}

type Account = NonNullable<ProviderRow['account']>;

const accountOf = (account: Account): AccountReports => mapped(account, reportsOf);

const reportsOf = (reports: Account['key']) =>
  Array.isArray(reports)
    ? reports.map(conditionOf)
    : { notDocumentedIn: reports.not_documented_in, date: reports.date };

const authOf =
  ({ auth, credential }: ProviderRow) =>
  (secret: string, nowMs: number, call: HttpCall): Record<string, string> => ({
    ...mapped(auth, withSecret(secret)),
    ...(credential && headersOf(credential)(secret, nowMs, call)),
  });

const withSecret = (secret: string) => (value: string) => value.replaceAll('{secret}', () => secret);

type DeclaredCall = NonNullable<ProviderRow['fetch']>;

/** Undefined if every address lacks a value. */
function callOf(
  declared: DeclaredCall,
  base: string,
  kept: Kept<HandleFields>,
  isOurs: (name: string) => boolean,
): HttpCall | undefined {
  const keptValue = (name: string) => (Object.hasOwn(kept, name) ? kept[name] : undefined);
  const inAddress = (template: string) => (name: string) => {
    if (name === 'base') return base;
    const value = keptValue(name);
    // A URL from the provider is used unchanged.
    return template === `{${name}}` || isOurs(name) || value === undefined
      ? value
      : encodeURIComponent(value);
  };
  for (const template of [declared.url].flat()) {
    const url = filled(template, inAddress(template));
    if (url === undefined) continue;
    const body =
      declared.body === undefined ? undefined : JSON.stringify(filledJson(declared.body, keptValue));
    return {
      method: declared.method,
      url,
      headers: {
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...mapped(declared.headers ?? {}, (value) => filled(value, keptValue) ?? ''),
      },
      ...(body !== undefined && { body: new TextEncoder().encode(body) }),
    };
  }
  return undefined;
}

function encodingOf(encode: NonNullable<ProtocolRow['submit']['encode']>): Encoding {
  if ('envelope' in encode) return envelope(encode.envelope, encode.upstream_fields);
  if ('force_false' in encode) return forceFalse(encode.force_false);
  if ('set' in encode) return withSet((uuid) => mapped(encode.set, withUuid(uuid)), encode.list);
  if ('form' in encode) return form(encode.form);
  const { key, fields, force_false: forced } = encode.asset_fields;
  return forceFalse(forced, assetFields(key, fields));
}

function forcedNames(encode: ProtocolRow['submit']['encode']): readonly string[] {
  if (encode === undefined) return [];
  if ('force_false' in encode) return encode.force_false;
  return 'asset_fields' in encode ? encode.asset_fields.force_false : [];
}

/** Fields of the input that are part of the address are left out of the body. */
function bodyOf({ url, encode }: Pick<ProtocolRow['submit'], 'url' | 'encode'>): Encoding | undefined {
  const names = inputNamesIn(url);
  const encoding = encode && encodingOf(encode);
  return names.length === 0 ? encoding : withoutMembers(names, encoding ?? ((run) => jsonBody(run, [])));
}

/** `https://*.provider.example` covers all subdomains, but not the domain itself. */
const originsLike = (origin: string): RegExp =>
  new RegExp(
    `^${origin.replaceAll('.', String.raw`\.`).replace(String.raw`*\.`, String.raw`(?:[a-z0-9-]+\.)+`)}$`,
  );

const withUuid = (uuid: string) => (template: Json) =>
  filledJson(template, (name) => (name === 'uuid' ? uuid : undefined));

function mapped<Name extends string, T, R>(record: Readonly<Record<Name, T>>, change: (value: T) => R) {
  const entries = Object.entries<T>(record).map(([name, value]) => [name, change(value)]);
  return Object.fromEntries(entries) as Record<Name, R>;
}
