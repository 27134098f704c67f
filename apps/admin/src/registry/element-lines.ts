/**
 * The lines on which the elements of an array begin, in a text that is valid JSON: of the outermost array, or of
 * the array under a name of the outermost object.
 */
export function elementLines(text: string, name: string | null): number[] {
  const lines: number[] = [];
  const depthOfElements = name === null ? 1 : 2;
  let line = 1;
  let depth = 0;
  let lastString = '';
  let inArray = name === null;
  let awaitsElement = false;
  // Strings as a whole, the signs that structure, line feeds, and what else a value can begin with.
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
