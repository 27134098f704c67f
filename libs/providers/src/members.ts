/** One member of a JSON object: its name, and where its value stands in the text. */
interface Member {
  name: string;
  from: number;
  to: number;
}

/** The index after the string that opens at `at`. */
function endOfString(text: string, at: number): number {
  for (let quote = text.indexOf('"', at + 1); quote !== -1; quote = text.indexOf('"', quote + 1)) {
    let slashes = 0;
    while (text[quote - 1 - slashes] === '\\') slashes += 1;
    if (slashes % 2 === 0) return quote + 1;
  }
  throw new SyntaxError('a string without an end');
}

/** The index after the value that begins at `at`. */
function endOfValue(text: string, at: number): number {
  let depth = 0;
  for (let index = at; index < text.length;) {
    const character = text[index] ?? '';
    if (character === '"') index = endOfString(text, index);
    else {
      if ('{['.includes(character)) depth += 1;
      else if (']},'.includes(character) || /\s/.test(character)) {
        if (depth === 0) return index;
        if (character === ']' || character === '}') depth -= 1;
      }
      index += 1;
    }
    if (depth === 0 && '"}]'.includes(text[index - 1] ?? '')) return index;
  }
  return text.length;
}

const space = /[\s,]*/y;

function afterSpace(text: string, at: number): number {
  space.lastIndex = at;
  space.test(text);
  return space.lastIndex;
}

/**
 * The members of the object that stands at `at`, in document order. The text is valid JSON; it is not parsed, so
 * that numbers keep their digits and an image of 20 MB is not copied.
 */
export function membersOf(text: string, at = 0): Member[] {
  const members: Member[] = [];
  let index = afterSpace(text, text.indexOf('{', at) + 1);
  while (text[index] === '"') {
    const endOfName = endOfString(text, index);
    const name = JSON.parse(text.slice(index, endOfName)) as string;
    const from = afterSpace(text, text.indexOf(':', endOfName) + 1);
    const to = endOfValue(text, from);
    members.push({ name, from, to });
    index = afterSpace(text, to);
  }
  return members;
}
