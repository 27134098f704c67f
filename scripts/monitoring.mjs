// Writes the alert rules and the dashboards from the built monitoring/src. RUNBOOKS is the URL at which
// docs/operations/alerts.md is published, GRAFANA that of Grafana; alerts link to both. With --check it writes nothing,
// names the files that differ and exits with 1.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { format, resolveConfig } from 'prettier';
import { monitoringFiles } from '../dist/monitoring/src/files.js';

const root = fileURLToPath(new URL('..', import.meta.url));
const check = process.argv.includes('--check');

function present(file) {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

const { RUNBOOKS: runbooks, GRAFANA: grafana } = process.env;
for (const [name, text] of monitoringFiles({ runbooks, grafana })) {
  const file = path.join(root, name);
  const formatted = await format(text, { ...(await resolveConfig(file)), filepath: file });
  if (present(file) === formatted) continue;
  if (check) {
    process.stderr.write(`${name} is out of date; run npm run monitoring\n`);
    process.exitCode = 1;
  } else {
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, formatted);
    process.stdout.write(`wrote ${name}\n`);
  }
}
