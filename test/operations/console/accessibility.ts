import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** Violations that axe rates serious or critical, each with its element and a summary. */
export async function violations(page: Page): Promise<string[]> {
  await page.evaluate(axe);
  const { violations: found } = (await page.evaluate('axe.run()')) as {
    violations: { id: string; impact: string; nodes: { html: string; failureSummary: string }[] }[];
  };
  return found
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, nodes }) => nodes.map(({ html, failureSummary }) => `${id}: ${html} ${failureSummary}`));
}
