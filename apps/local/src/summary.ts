import path from 'node:path';
import { checkout } from './checkout.js';

interface SummaryFacts {
  baseUrl: string;
  consoleUrl: string;
  apiKey: string;
  accessToken: string;
  /** The settings for operator's commands. */
  adminEnvFile: string;
}

const model = 'bfl/flux-2-pro';
const input = { prompt: 'a red fox in the snow' };

/** One word of a POSIX shell. */
const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

/**
 * The text for the moment when everything answers. The command lines work in any POSIX shell, pasted in
 * order or all at once: the first one stores the request id, the second one waits for the end.
 */
export function summary({ baseUrl, consoleUrl, apiKey, accessToken, adminEnvFile }: SummaryFacts): string {
  const requests = `${baseUrl}/v2/models/${model}/requests`;
  const header = `-H 'X-API-Key: ${apiKey}'`;
  // In the checkout's own folder they are found without a word.
  const isUsual = adminEnvFile === path.join(checkout, '.local/admin.env');
  const envFile = isUsual ? '' : `--env-file ${quoted(adminEnvFile)} `;
  const keepId = `tee /dev/stderr | sed -n 's/.*"request_id": *"\\([^"]*\\)".*/\\1/p'`;
  return [
    '',
    `console       ${consoleUrl}`,
    '              opens signed in, once and within 15 minutes; later, sign in with the API key',
    '',
    `base URL      ${baseUrl}`,
    `API key       ${apiKey}`,
    `access token  ${accessToken}`,
    '',
    'Submit a run, follow it, collect its result:',
    '',
    `REQUEST_ID=$(curl -sS -X POST ${requests} ${header} -H 'Content-Type: application/json' -d '${JSON.stringify(input)}' | ${keepId})`,
    `until curl -sS ${requests}/$REQUEST_ID/status ${header} | tee /dev/stderr | grep -q COMPLETED; do sleep 1; done`,
    `curl -sS ${requests}/$REQUEST_ID ${header}`,
    '',
    'Operate it from a second shell in this folder:',
    '',
    `npm run -s admin -- ${envFile}workspace list`,
    '',
    'Ctrl-C stops everything; the data stays.',
    '',
  ].join('\n');
}
