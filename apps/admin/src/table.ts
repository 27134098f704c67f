type Cell = string | number | null | undefined;

/** Formats rows as text columns with headings, two spaces apart. A cell without a value is a dash. */
export function table<Row>(rows: readonly Row[], columns: Record<string, (row: Row) => Cell>): string {
  const cells = rows.map((row) => Object.values(columns).map((cell) => String(cell(row) ?? '-')));
  return aligned([Object.keys(columns), ...cells]);
}

/** Formats lines of cells as text columns, two spaces apart. */
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
