export type CsvValue = string | number | boolean | null;

/** A line as in RFC 4180, with its ending. */
export const csvLine = (values: readonly CsvValue[]): string => `${values.map(csvCell).join(',')}\r\n`;

/** A cell as in RFC 4180. A text that a spreadsheet would read as a formula gets an apostrophe in front. */
export function csvCell(value: CsvValue): string {
  const isFormula = typeof value === 'string' && /^[=+\-@\t\r]/.test(value);
  const text = value === null ? '' : `${isFormula ? "'" : ''}${value}`;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
