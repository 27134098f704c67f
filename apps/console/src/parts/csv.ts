/** A text in quotes. A spreadsheet must never read what callers have chosen as a formula. */
export const quoted = (text: string): string =>
  `"${text.replace(/^[=+\-@\t\r]/, "'$&").replaceAll('"', '""')}"`;
