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

/** The tokens that those in an input likely add. */
export const tokensOfTools = (input: unknown, providerTools: ProviderTools = {}): number =>
  known(input, providerTools).reduce((sum, { kind }) => sum + kind.likely_tokens, 0);

/** Whether an input has a tool that is not known to run at the caller. */
export const usesProviderTools = (input: unknown, callerTools: CallerTools = {}): boolean =>
  toolsIn(input).some((tool) => kindsOf(tool, callerTools).includes(undefined));

/** The fees of a run, in micro-dollars, and where its reply tells the calls. */
interface Fees {
  likelyMicros: number;
  mostMicros: number;
  reported: ReportedTerm[];
}

/** The fees of the tools in an input that run at the provider. */
export function feesOf(input: unknown, providerTools: ProviderTools = {}): Fees {
  const fees: Fees = { likelyMicros: 0, mostMicros: 0, reported: [] };
  const places = new Set<string>();
  for (const {
    kind: { fee },
    tool,
  } of known(input, providerTools)) {
    if (fee === undefined) continue;
    const micros = fee.usd * 1_000_000;
    const most = limitAt(tool, fee.tool_limit) ?? limitAt(input, fee.limit) ?? fee.most;
    fees.likelyMicros += micros * Math.min(fee.likely, most);
    fees.mostMicros += micros * most;
    // Versions of a tool share what the reply says about them.
    const place = JSON.stringify(fee.reported);
    if (!places.has(place)) fees.reported.push({ ...storedPlace(fee.reported), optional: true, micros });
    places.add(place);
  }
  return fees;
}

const known = (input: unknown, providerTools: ProviderTools): { kind: ProviderTool; tool: object }[] =>
  toolsIn(input).flatMap((tool) =>
    kindsOf(tool, providerTools).flatMap((name) => {
      const kind = name === undefined ? undefined : providerTools[name];
      return kind ? [{ kind, tool }] : [];
    }),
  );

/** The tools of an input, and those of its groups of tools. */
const toolsIn = (input: unknown): object[] =>
  [valueAt(input, '/tools')]
    .flat()
    .filter((tool) => typeof tool === 'object' && tool !== null)
    .flatMap((tool) => [tool, ...toolsIn(tool)]);

function limitAt(value: unknown, place: string | undefined): number | undefined {
  const limit = place === undefined ? undefined : valueAt(value, place);
  return typeof limit === 'number' && limit >= 0 ? limit : undefined;
}

/** Runs store the names of the first release. */
const storedPlace = (
  reported: ToolFee['reported'],
): { at: string } | Exclude<ToolFee['reported'], { path: string }> =>
  'path' in reported ? { at: reported.path } : reported;
