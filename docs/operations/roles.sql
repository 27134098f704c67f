-- Three roles instead of one, so that the running apps cannot change tables. The administrator of the database runs this
-- once, before the first migration:
--   psql "$ADMIN_URL" -f docs/operations/roles.sql
-- and then sets a password for each role:
--   psql "$ADMIN_URL" -c '\password router_migrate'
BEGIN;

-- Owns and changes the schema. Only `admin migrate` has it in its DATABASE_URL.
CREATE ROLE router_migrate LOGIN;
-- Reads and writes rows, for gateways, workers and all other `admin` commands.
CREATE ROLE router_run LOGIN;
-- Calls workers_wanted() and cannot read any table. KEDA connects with it.
CREATE ROLE router_scale LOGIN CONNECTION LIMIT 10;

-- ALTER DEFAULT PRIVILEGES FOR ROLE, below, requires membership of that role.
GRANT router_migrate TO CURRENT_USER;

REVOKE ALL ON SCHEMA public FROM PUBLIC;
GRANT USAGE, CREATE ON SCHEMA public TO router_migrate;
GRANT USAGE ON SCHEMA public TO router_run, router_scale;
ALTER DEFAULT PRIVILEGES FOR ROLE router_migrate IN SCHEMA public
  GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO router_run;
ALTER DEFAULT PRIVILEGES FOR ROLE router_migrate IN SCHEMA public
  GRANT USAGE ON SEQUENCES TO router_run;
ALTER DEFAULT PRIVILEGES FOR ROLE router_migrate IN SCHEMA public
  GRANT EXECUTE ON FUNCTIONS TO router_run;

COMMIT;
