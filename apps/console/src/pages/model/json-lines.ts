/** The line, from 0, on which each value of a JSON text begins, by its path (`image/0/url`). Tolerates broken texts. */
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
      // White space before the colon may hold lines.
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
