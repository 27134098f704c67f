import { admit } from '../functions/admit.js';
import { backlog } from '../functions/backlog.js';
import { claim } from '../functions/claim.js';
import { credentialChanges } from '../functions/credential-changes.js';
import { finish } from '../functions/finish.js';
import { keepOutput } from '../functions/keep-output.js';
import { lockedWorkspaces } from '../functions/locked-workspaces.js';
import { partitions } from '../functions/partitions.js';
import { promote } from '../functions/promote.js';
import { providerPause } from '../functions/provider-pause.js';
import { releaseHeldRun } from '../functions/release-held-run.js';
import { requestCancel } from '../functions/request-cancel.js';
import { retention } from '../functions/retention.js';
import { routerNow } from '../functions/router-now.js';
import { storedObjects } from '../functions/stored-objects.js';
import { workersWanted } from '../functions/workers-wanted.js';
import { registryFunctions } from '../registry/functions.js';
import { registryTables } from '../registry/tables.js';
import { SqlMigration } from '../sql-migration.js';
import { domains } from './domains.js';
import { moneyTables, operationsTables, runTables, workspaceTables } from './tables.js';
import { webhookSecrets, webhookTables } from './webhook-tables.js';

/** Tables first, then the functions that work on them. The default of a column may call `router_now`. */
const schema = [
  // What runs with the owner's rights keeps this path. Temporary tables, which any role makes, would otherwise come first in it.
  `SELECT set_config('search_path', quote_ident(current_schema()) || ', pg_temp', true)`,
  routerNow,
  webhookSecrets,
  domains,
  workspaceTables,
  runTables,
  webhookTables,
  moneyTables,
  operationsTables,
  registryTables,
  partitions,
  retention,
  storedObjects,
  providerPause,
  backlog,
  promote,
  lockedWorkspaces,
  finish,
  admit,
  claim,
  keepOutput,
  requestCancel,
  releaseHeldRun,
  credentialChanges,
  registryFunctions,
  workersWanted,
  // TypeORM made this table before, and compares the expressions of its entities with what stands there.
  `INSERT INTO typeorm_metadata (type, database, schema, "table", name, value)
   SELECT 'GENERATED_COLUMN', table_catalog, table_schema, table_name, column_name,
     regexp_replace(btrim(generation_expression, E'\\n'), '\\s+', ' ', 'g')
   FROM information_schema.columns WHERE is_generated = 'ALWAYS'`,
];

export class InitialSchema1763700000000 extends SqlMigration {
  readonly name = 'InitialSchema1763700000000';
  protected readonly statements = schema;
}
