/**
 * Triggers of the node registry: a new revision after a write, and the effect of a publisher's ban on its nodes.
 */
export const registryFunctions = /* sql */ `
-- A statement that changes no nodes does not change the revision.
CREATE OR REPLACE FUNCTION renew_revision() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP <> 'TRUNCATE' THEN
    PERFORM FROM written LIMIT 1;
    IF NOT FOUND THEN RETURN NULL; END IF;
  END IF;
  UPDATE registry_revision SET revision = DEFAULT;
  RETURN NULL;
END $$;

-- Banning a publisher bans its nodes, so readers of changes must see them as changed.
CREATE OR REPLACE FUNCTION mark_nodes_of_publisher() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE node SET publisher_banned = NEW.listed_status = 'PublisherStatusBanned',
      updated_at = greatest(router_now(), created_at)
    WHERE publisher_id = NEW.id;
  RETURN NULL;
END $$;
`;
