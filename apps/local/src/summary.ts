import path from 'node:path';
import { checkout } from './checkout.js';

interface SummaryFacts {
  baseUrl: string;
  consoleUrl: string;
  apiKey: string;
  accessToken: string;
  /** The file with the settings for operator commands. */
  adminEnvFile: string;
}

const model = 'bfl/flux-2-pro';
const input = { prompt: 'a red fox in the snow' };

/** Quotes a text as one word of a POSIX shell. */
const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

/**
 * The text that is printed when everything is ready. The commands work in any POSIX shell, pasted one by one
 * or all at once: the first one stores the request id, and the second one waits until the run is completed.
 */
export function summary({ baseUrl, consoleUrl, apiKey, accessToken, adminEnvFile }: SummaryFacts): string {
  const requests = `${baseUrl}/v2/models/${model}/requests`;
  const header = `-H 'X-API-Key: ${apiKey}'`;
  // In the checkout's default folder the settings are found without an option.
  const isUsual = adminEnvFile === path.join(checkout, '.local/admin.env');
  const envFile = isUsual ? '' : `--env-file ${quoted(adminEnvFile)} `;
  const keepId = `tee /dev/stderr | sed -n 's/.*"request_id": *"\\([^"]*\\)".*/\\1/p'`;
  return [
    '',
    `console       ${consoleUrl}`,
    '              signs you in once, within 15 minutes; after that, sign in with the API key',
    '',
    `base URL      ${baseUrl}`,
    `API key       ${apiKey}`,
    `access token  ${accessToken}`,
    '',
    'Submit a run, follow its status and fetch its result:',
    '',
    `REQUEST_ID=$(curl -sS -X POST ${requests} ${header} -H 'Content-Type: application/json' -d '${JSON.stringify(input)}' | ${keepId})`,
    `until curl -sS ${requests}/$REQUEST_ID/status ${header} | tee /dev/stderr | grep -q COMPLETED; do sleep 1; done`,
    `curl -sS ${requests}/$REQUEST_ID ${header}`,
    '',
    'See what a refusal looks like: it names the field, and nothing is billed:',
    '',
    `curl -sS -X POST ${requests} ${header} -H 'Content-Type: application/json' -d '{"prompt":"a fox","width":7}'`,
    '',
    'Run operator commands from a second shell in this folder:',
    '',
    `npm run -s admin -- ${envFile}workspace list`,
    '',
    'Ctrl-C stops everything. The data is kept.',
    '',
  ].join('\n');
}
