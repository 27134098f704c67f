import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Page } from 'playwright-core';

/** Screenshots are saved only if this is set. */
const folder = process.env['SCREENSHOTS'];

/** Saves the visible part of a page as `<name>-<size>-<theme>.webp`. */
export async function keepScreenshot(
  page: Page,
  { name, size, theme }: { name: string; size: string; theme: string },
): Promise<void> {
  if (folder === undefined) return;
  mkdirSync(folder, { recursive: true });
  const devTools = await page.context().newCDPSession(page);
  const { data } = await devTools.send('Page.captureScreenshot', { format: 'webp', quality: 72 });
  writeFileSync(path.join(folder, `${name}-${size}-${theme}.webp`), Buffer.from(data, 'base64'));
}
