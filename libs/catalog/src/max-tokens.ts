import type { CallerTools } from '#providers';
import { anyCase } from './accepted-input.js';
import type { UnboundedField } from './price-factors.js';
import { isLeftOut, kindsOf } from './tool-kinds.js';

/**
 * The maximum number of tokens of a part of the input: one for each byte of its JSON. Infinite if it may have more
 * than its text, because it refers to other content or has a tool that runs at the provider.
 */
export function maxTokensOf(
  part: unknown,
  unboundedFields: readonly UnboundedField[] | undefined,
  callerTools: CallerTools | undefined,
): number {
  if (unboundedFields === undefined) return Infinity;
  const unbounded = new Map(
    unboundedFields.map((each) =>
      typeof each === 'string' ? [anySpelling(each), undefined] : [anySpelling(each.field), each.types],
    ),
  );
  const mayRefer = (name: string, beside: object): boolean => {
    const types = unbounded.get(anySpelling(name));
    const { type } = beside as { type?: unknown };
    return types === undefined
      ? unbounded.has(anySpelling(name))
      : typeof type !== 'string' || types.includes(type);
  };
  const bytesOf = (value: unknown): number => {
    if (!isContainer(value)) return bytesOfText(value);
    return sumOf(Object.entries(value), ([name, member]) => {
      const isUnbounded = mayRefer(name, value) && !isLeftOut(member);
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

/** The tokens that the provider adds for a tool. */
const addedByTool = (tool: unknown, callerTools: CallerTools = {}): number =>
  isContainer(tool)
    ? sumOf(kindsOf(tool, callerTools), (kind) =>
        kind === undefined ? Infinity : (callerTools[kind] ?? Infinity),
      )
    : Infinity;

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

const anySpelling = (name: string): string => anyCase(name.replaceAll('_', ''));

const sumOf = <Each>(values: readonly Each[], numberOf: (value: Each) => number): number =>
  values.reduce((sum, value) => sum + numberOf(value), 0);
