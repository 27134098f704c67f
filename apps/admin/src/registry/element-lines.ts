/**
 * Returns the lines on which the elements of an array begin in a valid JSON text: the outermost array, or the
 * array with this name in the outermost object.
 */
export function elementLines(text: string, name: string | null): number[] {
  const lines: number[] = [];
  const depthOfElements = name === null ? 1 : 2;
  let line = 1;
  let depth = 0;
  let lastString = '';
  let inArray = name === null;
  let awaitsElement = false;
  // Tokens: whole strings, structural characters, line feeds, and any other start of a value.
  for (const [token] of text.matchAll(/"(?:[^"\\]|\\.)*"|[[\]{},\n]|[^\s"[\]{},:]+/g)) {
    if (token === '\n') {
      line += 1;
      continue;
    }
    if (awaitsElement && token !== ']' && inArray && depth === depthOfElements) {
      lines.push(line);
      awaitsElement = false;
    }
    if (token === '[' || token === '{') {
      depth += 1;
      if (depth === depthOfElements && token === '[') {
        inArray ||= JSON.parse(lastString || '""') === name;
        awaitsElement = true;
      }
    } else if (token === ']' || token === '}') {
      if (depth === depthOfElements && name !== null) inArray = false;
      depth -= 1;
    } else if (token === ',') {
      if (depth === depthOfElements) awaitsElement = true;
    } else if (token.startsWith('"') && depth === 1) {
      lastString = token;
    }
  }
  return lines;
}
