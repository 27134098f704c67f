/** What follows from the writing of nodes, and what a publisher's ban does to its nodes. */
export const registryFunctions = /* sql */ `
CREATE FUNCTION count_kinds() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO node_kind AS counted (kind, supported_os, supported_accelerators, supported_app_version, status, banned, nodes)
    SELECT kind, coalesce(min(supported_os), '{}'), coalesce(min(supported_accelerators), '{}'),
      min(supported_app_version), min(listed_status), bool_or(banned), TG_ARGV[0]::integer * count(*)
    FROM touched WHERE kind IS NOT NULL GROUP BY kind ORDER BY kind
    ON CONFLICT (kind) DO UPDATE SET nodes = counted.nodes + EXCLUDED.nodes;
  RETURN NULL;
END $$;
CREATE TRIGGER kinds_inserted AFTER INSERT ON node
  REFERENCING NEW TABLE AS touched FOR EACH STATEMENT EXECUTE FUNCTION count_kinds('1');
CREATE TRIGGER kinds_before_update AFTER UPDATE ON node
  REFERENCING OLD TABLE AS touched FOR EACH STATEMENT EXECUTE FUNCTION count_kinds('-1');
CREATE TRIGGER kinds_updated AFTER UPDATE ON node
  REFERENCING NEW TABLE AS touched FOR EACH STATEMENT EXECUTE FUNCTION count_kinds('1');
CREATE TRIGGER kinds_deleted AFTER DELETE ON node
  REFERENCING OLD TABLE AS touched FOR EACH STATEMENT EXECUTE FUNCTION count_kinds('-1');

CREATE FUNCTION forget_kinds() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  TRUNCATE node_kind;
  RETURN NULL;
END $$;
CREATE TRIGGER kinds_truncated AFTER TRUNCATE ON node EXECUTE FUNCTION forget_kinds();

CREATE FUNCTION renew_revision() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE registry_revision SET revision = DEFAULT;
  RETURN NULL;
END $$;
CREATE TRIGGER revision_renewed AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE ON node EXECUTE FUNCTION renew_revision();

-- A publisher's ban bars its nodes: for a reader of changes they have changed.
CREATE FUNCTION publisher_bars_nodes() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE node SET publisher_banned = NEW.listed_status = 'PublisherStatusBanned',
      updated_at = greatest(router_now(), created_at)
    WHERE publisher_id = NEW.id;
  RETURN NULL;
END $$;
CREATE TRIGGER publisher_status AFTER UPDATE ON publisher FOR EACH ROW
  WHEN (OLD.listed_status IS DISTINCT FROM NEW.listed_status) EXECUTE FUNCTION publisher_bars_nodes();
`;
