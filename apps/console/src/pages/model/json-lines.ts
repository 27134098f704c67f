/** Maps each value's path (`image/0/url`) to the line, from 0, on which it begins. Tolerates invalid JSON. */
export function linesOf(text: string): Map<string, number> {
  const lines = new Map<string, number>([['', 0]]);
  const open: { isList: boolean; key: string; place: number }[] = [];
  let line = 0;
  const path = () => open.map(({ isList, key, place }) => (isList ? String(place) : key)).join('/');
  const tokens = /"(?:[^"\\\n]|\\.)*"(\s*:)?|[{}[\],\n]|[^\s{}[\],":]+/g;
  for (const [token, isKey] of text.matchAll(tokens)) {
    const top = open.at(-1);
    const note = () => {
      if (top !== undefined && !lines.has(path())) lines.set(path(), line);
    };
    if (token === '\n') line += 1;
    else if (token === ',') {
      if (top?.isList) top.place += 1;
    } else if (token === '}' || token === ']') open.pop();
    else if (isKey !== undefined && top !== undefined && !top.isList) {
      top.key = keyOf(token);
      lines.set(path(), line);
      // Whitespace before the colon may contain line breaks.
      line += token.split('\n').length - 1;
    } else {
      note();
      if (token === '{' || token === '[') open.push({ isList: token === '[', key: '', place: 0 });
    }
  }
  return lines;
}

function keyOf(token: string): string {
  try {
    return String(JSON.parse(token.slice(0, token.lastIndexOf('"') + 1)));
  } catch {
    return token;
  }
}
