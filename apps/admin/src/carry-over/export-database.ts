import type { Books, DatabaseSnapshot } from '#persistence';
import { createHash } from 'node:crypto';
import type { booksLine, digestLine, Heading } from './file-lines.js';
import type { z } from 'zod';

type Line = Heading | z.infer<typeof booksLine> | z.infer<typeof digestLine>;

/** Writes a database as lines, one page of rows at a time. `progress` receives the number of rows so far. */
export async function exportDatabase(
  snapshot: DatabaseSnapshot,
  write: (text: string) => Promise<void>,
  progress: (rows: number) => void,
): Promise<Books> {
  const digest = createHash('sha256');
  const put = async (text: string) => {
    digest.update(text);
    await write(text);
  };
  await put(
    text({
      format: 'model-router database',
      version: 1,
      exported_at: new Date().toISOString(),
      ...(await snapshot.origin()),
      tables: Object.fromEntries(snapshot.tables) as Heading['tables'],
    }),
  );
  let written = 0;
  for (const table of snapshot.tables.keys()) {
    for await (const rows of snapshot.rows(table)) {
      await put(rows.map((row) => `{"table":"${table}","row":${row}}\n`).join(''));
      progress((written += rows.length));
    }
  }
  const books = await snapshot.books();
  await put(text({ books }));
  await write(text({ sha256: digest.digest('hex') }));
  return books;
}

const text = (line: Line): string => `${JSON.stringify(line)}\n`;
