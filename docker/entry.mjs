// Starts the app that the first argument names and passes it the other arguments.
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const [node, , app = '', ...words] = process.argv;
if (app === '--version') {
  const { releaseText } = await import('../dist/libs/observability/src/release.js');
  process.stdout.write(`${releaseText}\n`);
  process.exit(0);
}
const main = new URL(`../dist/apps/${app}/src/main.js`, import.meta.url);
if (!/^[a-z]+$/.test(app) || !existsSync(main)) {
  process.stderr.write(`This image has no app "${app}": use gateway, worker or admin\n`);
  process.exit(2);
}
process.argv = [node, fileURLToPath(main), ...words];
await import(main.href);
