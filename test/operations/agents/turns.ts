export type Body = Record<string, unknown>;

/** A turn of a model: a text, or a call of one of the agent's tools. A stalled one begins its text and never ends it. */
export type Turn = { text: string; stalls?: boolean } | { call: string; input: object };

/** The reply of a turn: at once, and as the events of a stream. */
export interface TurnReply {
  whole: Body;
  events: readonly Body[];
}

/** A tool of a request, with the names of its arguments. */
interface Tool {
  name: string;
  fields: readonly string[];
}

/** The conversation in a request, in words that are the same for all vendors. */
export interface Asked {
  text: string;
  tools: readonly Tool[];
  hasResult: boolean;
  /** The schema of the JSON that is asked for. */
  schema?: unknown;
}

export const greeting = 'Hello from the model.';
export const written = 'written by the model';
export const finished = 'The file is written.';

/** The inputs of the tools by which agents write a file. */
const writers: Readonly<Record<string, (file: string, fields: readonly string[]) => object>> = {
  // Claude Code and Continue have a tool of this name, with different arguments.
  Write: (file, fields) => ({
    [fields.includes('filepath') ? 'filepath' : 'file_path']: file,
    content: `${written}\n`,
  }),
  write: (filePath) => ({ filePath, content: `${written}\n` }),
  write_file: (file_path) => ({ file_path, content: `${written}\n` }),
  apply_patch: (file) => ({
    patchText: `*** Begin Patch\n*** Add File: ${file}\n+${written}\n*** End Patch`,
  }),
  exec_command: (file) => ({ cmd: `echo ${written} > ${file}` }),
};

export function turnFor({ text, tools, hasResult, schema }: Asked): Turn {
  if (schema !== undefined) return { text: JSON.stringify(exampleOf(schema)) };
  if (hasResult) return { text: finished };
  const [, file = ''] = /Write the file ([\w./-]+\.txt)/.exec(text) ?? [];
  // Codex takes a patch as plain text, so its shell comes first.
  const writer = tools
    .toSorted((one, other) => Number(one.name === 'apply_patch') - Number(other.name === 'apply_patch'))
    .find(({ name }) => Object.hasOwn(writers, name));
  if (file !== '' && writer !== undefined)
    return { call: writer.name, input: writers[writer.name]?.(file, writer.fields) ?? {} };
  return { text: greeting, stalls: text.includes('Never end') };
}

/** The smallest value that a JSON schema of an object allows. */
function exampleOf(schema: unknown): unknown {
  const { type, properties = {}, enum: values } = Object(schema) as Body;
  if (Array.isArray(values)) return values[0] as unknown;
  if (String(type).toLowerCase() !== 'object') return /number|integer/i.test(String(type)) ? 1 : 'x';
  return Object.fromEntries(
    Object.entries(properties as Body).map(([name, member]) => [name, exampleOf(member)]),
  );
}

export const textIn = (value: unknown): string => JSON.stringify(value) ?? '';
export const listIn = (value: unknown): Body[] => (Array.isArray(value) ? (value as Body[]) : []);

/** A tool, by its name and the JSON schema of its arguments. */
export const toolOf = (name: unknown, schema: unknown): Tool => ({
  name: String(name),
  fields: Object.keys(Object(Object(schema)['properties']) as Body),
});

/** A text in two parts, as a stream sends it. */
export const halves = (text: string): string[] => [text.slice(0, 7), text.slice(7)];
