/** Breaks text into lines of at most `columns` characters: between words, and inside a word that is longer. */
export function wrap(text: string, columns: number): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ').flatMap((each) => pieces(each, columns))) {
    if (line !== '' && line.length + 1 + word.length > columns) {
      lines.push(line);
      line = '';
    }
    line = line === '' ? word : `${line} ${word}`;
  }
  return line === '' ? lines : [...lines, line];
}

function pieces(word: string, columns: number): string[] {
  return Array.from({ length: Math.ceil(word.length / columns) }, (_, index) =>
    word.slice(index * columns, (index + 1) * columns),
  );
}

/** The largest of `scales` at which the text fits into the box; at the smallest one it is cut with dots. */
export function fit(
  text: string,
  box: { width: number; height: number },
  advance: { columns: number; rows: number },
  scales: readonly number[],
): { scale: number; lines: string[] } {
  let best = { scale: 1, lines: [''] };
  for (const scale of scales) {
    const columns = Math.floor(box.width / (advance.columns * scale));
    const rows = Math.floor(box.height / (advance.rows * scale));
    const lines = wrap(text, columns);
    if (lines.length <= rows) return { scale, lines };
    best = {
      scale,
      lines: [...lines.slice(0, rows - 1), `${(lines[rows - 1] ?? '').slice(0, columns - 3)}...`],
    };
  }
  return best;
}
