type Cell = string | number | null | undefined;

/** Rows as text columns under their headings, two spaces apart; a cell without a value is a dash. */
export function table<Row>(rows: readonly Row[], columns: Record<string, (row: Row) => Cell>): string {
  const cells = rows.map((row) => Object.values(columns).map((cell) => String(cell(row) ?? '-')));
  return aligned([Object.keys(columns), ...cells]);
}

/** Lines of cells as text columns, two spaces apart. */
export function aligned(lines: readonly (readonly string[])[]): string {
  const widths: number[] = [];
  for (const line of lines) {
    line.forEach((cell, column) => {
      widths[column] = Math.max(widths[column] ?? 0, cell.length);
    });
  }
  return lines
    .map((line) =>
      line
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}
