// Starts the app that the first argument names and passes it the other arguments.
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const [node, , app = '', ...words] = process.argv;
if (app === '--version') {
  const { releaseText } = await import('../dist/libs/observability/src/release.js');
  process.stdout.write(`${releaseText}\n`);
  process.exit(0);
}
// Only the admin app is bundled.
const main = ['bundle', 'src']
  .map((folder) => new URL(`../dist/apps/${app}/${folder}/main.js`, import.meta.url))
  .find((file) => /^[a-z]+$/.test(app) && existsSync(file));
if (main === undefined) {
  process.stderr.write(`This image has no app "${app}": use gateway, worker or admin\n`);
  process.exit(2);
}
process.argv = [node, fileURLToPath(main), ...words];
await import(main.href);
