/** What follows from the writing of nodes, and what a publisher's ban does to its nodes. */
export const registryFunctions = /* sql */ `
CREATE FUNCTION tally_nodes() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO node_tally AS tally (os_mark, accelerator_mark, app_mark, banned, nodes)
    SELECT os_mark, accelerator_mark, app_mark, banned, TG_ARGV[0]::integer * count(*) FROM touched
    WHERE listed_status <> 'NodeStatusDeleted'
    GROUP BY os_mark, accelerator_mark, app_mark, banned ORDER BY os_mark, accelerator_mark, app_mark, banned
    ON CONFLICT (os_mark, accelerator_mark, app_mark, banned) DO UPDATE SET nodes = tally.nodes + EXCLUDED.nodes;
  RETURN NULL;
END $$;
CREATE TRIGGER tally_inserted AFTER INSERT ON node
  REFERENCING NEW TABLE AS touched FOR EACH STATEMENT EXECUTE FUNCTION tally_nodes('1');
CREATE TRIGGER tally_before_update AFTER UPDATE ON node
  REFERENCING OLD TABLE AS touched FOR EACH STATEMENT EXECUTE FUNCTION tally_nodes('-1');
CREATE TRIGGER tally_updated AFTER UPDATE ON node
  REFERENCING NEW TABLE AS touched FOR EACH STATEMENT EXECUTE FUNCTION tally_nodes('1');
CREATE TRIGGER tally_deleted AFTER DELETE ON node
  REFERENCING OLD TABLE AS touched FOR EACH STATEMENT EXECUTE FUNCTION tally_nodes('-1');

CREATE FUNCTION tally_nothing() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  TRUNCATE node_tally;
  RETURN NULL;
END $$;
CREATE TRIGGER tally_truncated AFTER TRUNCATE ON node EXECUTE FUNCTION tally_nothing();

CREATE FUNCTION note_demands() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO node_demand (kind, mark, demands)
    SELECT DISTINCT ON (kind, mark) kind, mark, demands
    FROM touched, LATERAL (VALUES ('os', os_mark, coalesce(supported_os, '{}')),
      ('accelerator', accelerator_mark, coalesce(supported_accelerators, '{}')),
      ('app', app_mark, array_remove(ARRAY[supported_app_version], NULL))) AS its (kind, mark, demands)
    ON CONFLICT DO NOTHING;
  RETURN NULL;
END $$;
CREATE TRIGGER demands_inserted AFTER INSERT ON node
  REFERENCING NEW TABLE AS touched FOR EACH STATEMENT EXECUTE FUNCTION note_demands();
CREATE TRIGGER demands_updated AFTER UPDATE ON node
  REFERENCING NEW TABLE AS touched FOR EACH STATEMENT EXECUTE FUNCTION note_demands();

-- A publisher's ban bars its nodes: for a reader of changes they have changed.
CREATE FUNCTION publisher_bars_nodes() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE node SET publisher_banned = NEW.listed_status = 'PublisherStatusBanned',
      updated_at = greatest(clock_timestamp(), created_at)
    WHERE publisher_id = NEW.id;
  RETURN NULL;
END $$;
CREATE TRIGGER publisher_status AFTER UPDATE ON publisher FOR EACH ROW
  WHEN (OLD.listed_status IS DISTINCT FROM NEW.listed_status) EXECUTE FUNCTION publisher_bars_nodes();
`;
