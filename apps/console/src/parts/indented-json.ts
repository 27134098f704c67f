const token = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g;

/** Indents JSON without changing its values. Parsing would round a 64-bit seed. */
export function indentedJson(text: string): string {
  const tokens = text.match(token) ?? [];
  let depth = 0;
  let out = '';
  const newLine = () => `\n${'  '.repeat(depth)}`;
  for (const [at, each] of tokens.entries()) {
    const next = tokens[at + 1];
    if (each === '{' || each === '[') {
      const isEmpty = next === '}' || next === ']';
      if (!isEmpty) depth += 1;
      out += each + (isEmpty ? '' : newLine());
    } else if (each === '}' || each === ']') {
      const isEmpty = ['{', '['].includes(tokens[at - 1] ?? '');
      if (!isEmpty) depth -= 1;
      out += (isEmpty ? '' : newLine()) + each;
    } else if (each === ',') out += each + newLine();
    else out += each === ':' ? ': ' : each;
  }
  return out;
}
