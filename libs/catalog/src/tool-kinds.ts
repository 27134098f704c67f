import type { CallerTools, ProviderTool, ProviderTools, ToolFee } from '#providers';
import { camelName, type ReportedTerm, valueAt } from '#schemas';
import { anyCase } from './accepted-input.js';
import { keyOf } from './price-factors.js';

/**
 * The kinds of a tool, as far as they are known: its `type`. A tool without one is of the kind '' or, unless that is a kind, of
 * the kinds that its members name. A parser that ignores case reads `Type` too. Undefined stands for an unknown kind.
 */
export function kindsOf(tool: object, known: Readonly<Record<string, unknown>>): (string | undefined)[] {
  const members = Object.entries(tool).filter(([, member]) => !isLeftOut(member));
  const types = members
    .filter(([name]) => anyCase(name) === 'TYPE')
    .map(([, type]: [string, unknown]) => type);
  const untyped = Object.hasOwn(known, '') ? [''] : members.map(([name]) => camelName(name));
  return (types.length > 0 ? types : untyped).map((kind) => keyOf({ values: known }, kind));
}

export const isLeftOut = (value: unknown): boolean => value === null || value === false || value === '';

/** The tokens that tools at the provider likely add to the input, by kind. */
export const likelyTokens = (providerTools: ProviderTools = {}): CallerTools =>
  Object.fromEntries(Object.entries(providerTools).map(([kind, tool]) => [kind, tool.likely_tokens]));

/** Members that make a provider search or call other servers, beside tools. */
const switches = new Set(['MCP_SERVERS', 'PLUGINS', 'WEB_SEARCH', 'WEB_SEARCH_OPTIONS', 'ENABLE_WEB_SEARCH']);

/** Whether an input has a tool that is not known to run at the caller, or something that is as good as one. */
export const usesProviderTools = (input: object, callerTools: CallerTools = {}): boolean =>
  toolsIn(input).some((tool) => kindsOf(tool, callerTools).includes(undefined)) ||
  Object.entries(input).some(
    ([name, value]) =>
      (switches.has(anyCase(name)) && !isLeftOut(value)) ||
      (name === 'model' && typeof value === 'string' && value.endsWith(':online')),
  );

/** The tools of an input that run at the provider: what they add, and where their calls are told. */
interface ToolCosts {
  /** The tokens that they likely add to the input. Undefined without such a tool. */
  tokens?: number;
  /** Their fees in micro-dollars. */
  likelyMicros: number;
  mostMicros: number;
  /** The places of the calls in a reply, and in a stream that ended early. */
  reported: ReportedTerm[];
  early: ReportedTerm[];
}

/** The costs of the tools in an input that run at the provider, as far as they are known. */
export function toolCosts(input: unknown, providerTools: ProviderTools = {}): ToolCosts {
  const costs: ToolCosts = { likelyMicros: 0, mostMicros: 0, reported: [], early: [] };
  const places = new Set<string>();
  for (const { kind, tool } of known(input, providerTools)) {
    costs.tokens = (costs.tokens ?? 0) + kind.likely_tokens;
    const { fee } = kind;
    if (fee === undefined) continue;
    const micros = fee.usd * 1_000_000;
    const most = limitAt(tool, fee.tool_limit) ?? limitAt(input, fee.limit) ?? fee.most;
    costs.likelyMicros += micros * Math.min(fee.likely, most);
    costs.mostMicros += micros * most;
    // Versions of a tool share what the reply says about them.
    const place = JSON.stringify(fee.reported);
    if (places.has(place)) continue;
    places.add(place);
    costs.reported.push({ ...storedPlace(fee.reported), optional: true, micros });
    costs.early.push({ ...storedPlace(fee.early ?? fee.reported), optional: true, micros });
  }
  return costs;
}

const known = (input: unknown, providerTools: ProviderTools): { kind: ProviderTool; tool: object }[] =>
  toolsIn(input).flatMap((tool) =>
    kindsOf(tool, providerTools).flatMap((name) => {
      const kind = name === undefined ? undefined : providerTools[name];
      return kind ? [{ kind, tool }] : [];
    }),
  );

/** The tools of an input, those of its items, which OpenAI takes too, and those in groups of tools. */
const toolsIn = (input: unknown): object[] =>
  [input, ...objectsIn(valueAt(input, '/input'))].flatMap(toolsOf);

const toolsOf = (holder: unknown): object[] =>
  Object.entries(Object(holder) as object)
    .filter(([name]) => anyCase(name) === 'TOOLS')
    .flatMap(([, tools]: [string, unknown]) => objectsIn(tools))
    .flatMap((tool) => [tool, ...toolsOf(tool)]);

const objectsIn = (value: unknown): object[] =>
  [value].flat().filter((each) => typeof each === 'object' && each !== null);

function limitAt(value: unknown, place: string | undefined): number | undefined {
  const limit = place === undefined ? undefined : valueAt(value, place);
  return typeof limit === 'number' && limit >= 0 ? limit : undefined;
}

/** Runs store the names of the first release. */
const storedPlace = (
  reported: ToolFee['reported'],
): { at: string } | Exclude<ToolFee['reported'], { path: string }> =>
  'path' in reported ? { at: reported.path } : reported;
