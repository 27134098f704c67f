import { describe, expect, it } from '@jest/globals';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { type Bucket, type BucketFacts, bucketNames, buckets } from './buckets.js';

const folder = new URL('../../../docs/errors/', import.meta.url);
/** Whether the page of a link from these pages exists. */
const isPage = (link = '') => existsSync(new URL(link.split('#')[0] ?? '', folder));
const read = (file: string): string => readFileSync(new URL(file, folder), 'utf8');
function statusesOf(bucket: Bucket): number[] {
  const { status, otherStatuses = [] }: BucketFacts = buckets[bucket];
  return [status, ...otherStatuses];
}

/** The numbers of a Markdown cell such as `400, 404`. */
const numbers = (cell: string | undefined): number[] => (cell ?? '').split(',').map(Number);

interface Example {
  status: number;
  headers: Map<string, string>;
  body: { error_type?: string; detail?: unknown };
}

/** The `http` blocks of a page: status line, headers, empty line, JSON. */
function examplesOf(page: string): Example[] {
  return [...page.matchAll(/```http\n([^]*?)\n\n([^]*?)```/g)].map(([, head = '', body = '']) => {
    const [statusLine = '', ...headers] = head.split('\n');
    return {
      status: Number(statusLine.split(' ')[1]),
      headers: new Map(headers.map((line) => line.split(': ') as [string, string])),
      body: JSON.parse(body) as Example['body'],
    };
  });
}

describe('the fifteen buckets', () => {
  it('are fifteen, each with distinct error statuses', () => {
    expect(bucketNames).toHaveLength(15);
    for (const bucket of bucketNames) {
      const statuses = statusesOf(bucket);
      expect(new Set(statuses).size).toBe(statuses.length);
      expect(statuses.every((status) => status >= 400 && status < 600)).toBe(true);
    }
  });

  it('have exactly one page each', () => {
    const pages = readdirSync(folder).filter((file) => file !== 'README.md');
    expect(pages.sort()).toEqual(bucketNames.map((bucket) => `${bucket}.md`).sort());
  });

  it('are listed in the index in order, with their statuses and meanings', () => {
    const rows = [...read('README.md').matchAll(/^\| \[(\w+)\]\((\S+)\) +\| ([\d, ]+?) +\| (.+?) +\|$/gm)];
    expect(
      rows.map(([, name, link, statuses, meaning]) => ({
        name,
        link,
        statuses: new Set(numbers(statuses)),
        meaning,
      })),
    ).toEqual(
      bucketNames.map((bucket) => ({
        name: bucket,
        link: `${bucket}.md`,
        statuses: new Set(statusesOf(bucket)),
        meaning: buckets[bucket].meaning,
      })),
    );
  });
});

describe.each(bucketNames)('the page of %s', (bucket) => {
  const page = (): string => read(`${bucket}.md`);

  it('opens with the name and the meaning', () => {
    const [heading, , meaning] = page().split('\n');
    expect(heading).toBe(`# ${bucket}`);
    expect(meaning).toBe(buckets[bucket].meaning);
  });

  it('states exactly the statuses of the table', () => {
    const [, cell] = /^\| HTTP status +\| ([\d, ]+?) +\|$/m.exec(page()) ?? [];
    expect(new Set(numbers(cell))).toEqual(new Set(statusesOf(bucket)));
  });

  it.each([
    '| Billed ',
    '| Idempotency-Key ',
    '| Same request again ',
    '## When it happens',
    '## What to do',
  ])('has the section “%s”', (part) => {
    expect(page()).toContain(`\n${part}`);
  });

  it('links to pages that exist', () => {
    const links = [...page().matchAll(/\]\((\S+?)\)/g)].map(([, link]) => link);
    expect(links.filter((link) => !isPage(link))).toEqual([]);
  });

  it('shows responses as the service sends them', () => {
    const examples = examplesOf(page());
    expect(examples.length).toBeGreaterThan(0);
    for (const { status, headers, body } of examples) {
      expect(statusesOf(bucket)).toContain(status);
      expect(headers.get('X-Service-Error-Type')).toBe(bucket);
      expect(headers.get('X-Service-Request-Id')).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
      expect(body.error_type).toBe(status === 422 ? undefined : bucket);
      expect(Array.isArray(body.detail)).toBe(status === 422);
    }
  });
});
