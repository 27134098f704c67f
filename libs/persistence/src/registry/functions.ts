/** How a node's demands become a number, and what a publisher's ban does to its nodes. */
export const registryFunctions = /* sql */ `
CREATE FUNCTION demand_mark(demands text[]) RETURNS bigint LANGUAGE sql STABLE AS $$
  SELECT hashtextextended(to_jsonb(coalesce(demands, '{}'))::text, 0)
$$;

-- What a range of host versions demands, in the form of the other demands.
CREATE FUNCTION app_demands(range text) RETURNS text[] LANGUAGE sql IMMUTABLE AS $$
  SELECT array_remove(ARRAY[range], NULL)
$$;

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
