import { expect, it } from '@jest/globals';
import { csvOf } from './usage-csv.ts';

const row = { day: '2025-01-01', model: 'bfl/flux-2-pro', key_id: 'k', runs: 2, succeeded: 1, cost_cents: 3 };

it.each([
  ['nightly', '"nightly"'],
  ['=HYPERLINK("https://example.com")', `"'=HYPERLINK(""https://example.com"")"`],
  ['+1', `"'+1"`],
  ['-1', `"'-1"`],
  ['@SUM(A1)', `"'@SUM(A1)"`],
  ['\t=1', `"'\t=1"`],
  ['\r=1', `"'\r=1"`],
  ['a,b=1', '"a,b=1"'],
])('writes the key name %j as text', (name, cell) => {
  expect(csvOf([row], new Map([['k', name]]))).toBe(
    `day,model,key_id,key,runs,succeeded,cost_cents\r\n2025-01-01,bfl/flux-2-pro,k,${cell},2,1,3\r\n`,
  );
});
