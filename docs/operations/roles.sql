-- Three roles instead of one, so that what runs can change no table. Once for a database, before its first migration,
-- by its administrator:
--   psql "$ADMIN_URL" -f docs/operations/roles.sql
-- and then a password for each:
--   psql "$ADMIN_URL" -c '\password router_migrate'
BEGIN;

-- Owns the schema and changes it: DATABASE_URL of `admin migrate` only.
CREATE ROLE router_migrate LOGIN;
-- Reads and writes rows: DATABASE_URL of gateways, workers and all other commands of `admin`.
CREATE ROLE router_run LOGIN;
-- Calls workers_wanted() and sees no row: what KEDA connects with.
CREATE ROLE router_scale LOGIN CONNECTION LIMIT 10;

-- What gives another role's privileges has to be a member of it.
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
