/** What follows from the writing of nodes, and what the ban of a publisher does to its nodes. */
export const registryFunctions = /* sql */ `
-- A statement that changes no node leaves the revision as it is.
CREATE FUNCTION renew_revision() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP <> 'TRUNCATE' THEN
    PERFORM FROM written LIMIT 1;
    IF NOT FOUND THEN RETURN NULL; END IF;
  END IF;
  UPDATE registry_revision SET revision = DEFAULT;
  RETURN NULL;
END $$;
CREATE TRIGGER revision_inserted AFTER INSERT ON node
  REFERENCING NEW TABLE AS written FOR EACH STATEMENT EXECUTE FUNCTION renew_revision();
CREATE TRIGGER revision_updated AFTER UPDATE ON node
  REFERENCING NEW TABLE AS written FOR EACH STATEMENT EXECUTE FUNCTION renew_revision();
CREATE TRIGGER revision_deleted AFTER DELETE ON node
  REFERENCING OLD TABLE AS written FOR EACH STATEMENT EXECUTE FUNCTION renew_revision();
CREATE TRIGGER revision_truncated AFTER TRUNCATE ON node EXECUTE FUNCTION renew_revision();

-- The ban of a publisher bans its nodes: for a reader of changes they have changed.
CREATE FUNCTION mark_nodes_of_publisher() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE node SET publisher_banned = NEW.listed_status = 'PublisherStatusBanned',
      updated_at = greatest(router_now(), created_at)
    WHERE publisher_id = NEW.id;
  RETURN NULL;
END $$;
CREATE TRIGGER publisher_status AFTER UPDATE ON publisher FOR EACH ROW
  WHEN (OLD.listed_status IS DISTINCT FROM NEW.listed_status) EXECUTE FUNCTION mark_nodes_of_publisher();
`;
