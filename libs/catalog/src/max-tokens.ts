import type { CallerTools } from '#providers';
import { camelName } from '#schemas';
import { anyCase } from './accepted-input.js';
import { keyOf } from './price-factors.js';

/**
 * The maximum number of tokens of a part of the input: one for each byte of its JSON. Infinite if it may have more
 * than its text, because it refers to other content or has a tool that runs at the provider.
 */
export function maxTokensOf(
  part: unknown,
  unboundedFields: readonly string[] | undefined,
  callerTools: CallerTools | undefined,
): number {
  if (unboundedFields === undefined) return Infinity;
  const unbounded = new Set(unboundedFields.map(anySpelling));
  const bytesOf = (value: unknown): number => {
    if (!isContainer(value)) return bytesOfText(value);
    return sumOf(Object.entries(value), ([name, member]) => {
      const isUnbounded = unbounded.has(anySpelling(name)) && !isLeftOut(member);
      const more = toolLists.has(name) ? bytesOfTools(member, callerTools) : Infinity;
      return bytesOfName(name) + (isUnbounded ? more : bytesOf(member));
    });
  };
  return addedTokens + bytesOf(part);
}

/** Tokens that providers add around a text: turns, roles, their own system prompt. */
const addedTokens = 1000;

const toolLists: ReadonlySet<string> = new Set(['tools', 'functions']);

/** Infinite if one of the tools is not known to run at the caller. */
const bytesOfTools = (tools: unknown, callerTools: CallerTools | undefined): number =>
  sumOf([tools].flat(), (tool) => addedByTool(tool, callerTools) + bytesOfTool(tool, callerTools));

/**
 * The tokens that the provider adds for a tool. A tool without a `type` is of the kind '' or, unless that is a kind, of
 * the kinds that its members name. A parser that ignores case reads `Type` too.
 */
function addedByTool(tool: unknown, callerTools: CallerTools = {}): number {
  if (!isContainer(tool)) return Infinity;
  const members = Object.entries(tool).filter(([, member]) => !isLeftOut(member));
  const types = members
    .filter(([name]) => anyCase(name) === 'TYPE')
    .map(([, type]: [string, unknown]) => type);
  const untyped = Object.hasOwn(callerTools, '') ? [''] : members.map(([name]) => camelName(name));
  return sumOf(types.length > 0 ? types : untyped, (kind) => {
    const key = keyOf({ values: callerTools }, kind);
    return key === undefined ? Infinity : (callerTools[key] ?? Infinity);
  });
}

/** A tool of the caller refers to nothing, whatever its parameters are called. A group of tools has tools. */
const bytesOfTool = (tool: unknown, callerTools: CallerTools | undefined): number =>
  isContainer(tool)
    ? sumOf(
        Object.entries(tool),
        ([name, member]) =>
          bytesOfName(name) + (toolLists.has(name) ? bytesOfTools(member, callerTools) : bytesOfJson(member)),
      )
    : bytesOfText(tool);

/** A lower bound of the size of a value as JSON, in bytes. A text never has more tokens than bytes. */
const bytesOfJson = (value: unknown): number =>
  isContainer(value)
    ? sumOf(Object.entries(value), ([name, member]) => bytesOfName(name) + bytesOfJson(member))
    : bytesOfText(value);

const bytesOfName = (name: string): number => Buffer.byteLength(name) + 4;

const bytesOfText = (value: unknown): number =>
  typeof value === 'string' ? Buffer.byteLength(value) : String(value).length;

const isContainer = (value: unknown): value is object => typeof value === 'object' && value !== null;

export const isLeftOut = (value: unknown): boolean => value === null || value === false || value === '';

const anySpelling = (name: string): string => anyCase(name.replaceAll('_', ''));

const sumOf = <Each>(values: readonly Each[], numberOf: (value: Each) => number): number =>
  values.reduce((sum, value) => sum + numberOf(value), 0);
