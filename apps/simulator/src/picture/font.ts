/**
 * A bitmap font, five pixels wide. A glyph is seven rows, or nine when it reaches below the line; a row is one
 * base-32 digit whose five bits are its pixels, the leftmost being the highest.
 */
// prettier-ignore
const glyphs: Record<string, string> = {
  ' ': '0000000', '!': '4444404', '"': 'aa00000', '#': 'aavavaa', $: '4fke5u4', '%': 'op248j3',
  '&': 'cik8lid', "'": '4480000', '(': '2488842', ')': '8422248', '*': '04lel40', '+': '044v440',
  ',': '00000cc48', '-': '000v000', '.': '00000cc', '/': '01248g0', 0: 'ehjlphe', 1: '4c4444e',
  2: 'eh1248v', 3: 'v2421he', 4: '26aiv22', 5: 'vgu11he', 6: '68guhhe', 7: 'v124888', 8: 'ehhehhe',
  9: 'ehhf12c', ':': '0cc0cc0', ';': '0cc00cc48', '<': '248g842', '=': '00v0v00', '>': '8421248',
  '?': 'eh12404', '@': 'eh1dlle', A: 'ehhhvhh', B: 'uhhuhhu', C: 'ehggghe', D: 'sihhhis', E: 'vgguggv',
  F: 'vgguggg', G: 'ehgnhhf', H: 'hhhvhhh', I: 'e44444e', J: '72222ic', K: 'hikokih', L: 'ggggggv',
  M: 'hrllhhh', N: 'hhpljhh', O: 'ehhhhhe', P: 'uhhuggg', Q: 'ehhhlid', R: 'uhhukih', S: 'fgge11u',
  T: 'v444444', U: 'hhhhhhe', V: 'hhhhha4', W: 'hhhllla', X: 'hha4ahh', Y: 'hhha444', Z: 'v1248gv',
  '[': 'e88888e', '\\': '0g84210', ']': 'e22222e', '^': '4ah0000', _: '000000v', '`': '8420000',
  a: '00e1fhf', b: 'ggmphhu', c: '00egghe', d: '11djhhf', e: '00ehvge', f: '698s888', g: '00fhhhf1e',
  h: 'ggmphhh', i: '40c444e', j: '2062222ic', k: 'ggikoki', l: 'c44444e', m: '00qllhh', n: '00mphhh',
  o: '00ehhhe', p: '00uhhhugg', q: '00fhhhf11', r: '00mpggg', s: '00ege1u', t: '88s8896', u: '00hhhjd',
  v: '00hhha4', w: '00hhlla', x: '00ha4ah', y: '00hhhhf1e', z: '00v248v', '{': '2448442', '|': '4444444',
  '}': '8442448', '~': '008l200',
};

/** Columns and rows from one glyph's corner to the next one's. */
export const glyphAdvance = { columns: 6, rows: 11 };

/** Calls `dot` for each set pixel of a character; one that the font lacks is drawn as a box. */
export function eachDot(character: string, dot: (column: number, row: number) => void): void {
  const rows = glyphs[character] ?? 'vhhhhhv';
  for (let row = 0; row < rows.length; row += 1) {
    const bits = Number.parseInt(rows.charAt(row), 32);
    for (let column = 0; column < 5; column += 1) if (bits & (16 >> column)) dot(column, row);
  }
}

/** Text in characters of the font: accents are dropped, and what it lacks becomes one square a character. */
export function drawable(text: string): string {
  return text
    .normalize('NFKD')
    .replace(/\p{Mark}/gu, '')
    .replace(/ß/g, 'ss')
    .replace(/[‘’]/g, "'")
    .replace(/[“”]/g, '"')
    .replace(/[–—]/g, '-')
    .replace(/[^ -~]/gu, '□');
}
