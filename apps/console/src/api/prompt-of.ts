const names = [
  'prompt',
  'promptText',
  'text_prompt',
  'text',
  'instruction',
  'input',
  'inputs',
  'messages',
  'contents',
  'content',
  'parts',
];
const maxDepth = 6;

/** Finds the prompt in an input of any shape, or the text of its last message. */
export function promptOf(input: unknown, depth = 0): string | undefined {
  if (typeof input === 'string') return input.trim() === '' || isFile(input) ? undefined : input.trim();
  if (depth > maxDepth || typeof input !== 'object' || input === null) return undefined;
  if (Array.isArray(input)) {
    const list: unknown[] = input;
    for (const item of list.toReversed()) {
      const found = promptOf(item, depth + 1);
      if (found !== undefined) return found;
    }
    return undefined;
  }
  for (const name of names) {
    const found = promptOf((input as Record<string, unknown>)[name], depth + 1);
    if (found !== undefined) return found;
  }
  return undefined;
}

const isFile = (text: string): boolean => /^(https?:|data:)\S+$|^[A-Za-z0-9+/=]{200,}$/.test(text);
