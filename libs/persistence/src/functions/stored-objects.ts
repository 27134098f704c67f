/**
 * `need_objects(keys, until)`: the objects are kept from now on, and longer than any URL that was signed for
 * them. Fails when one is not there or is being deleted: the row that would point to it must not be written.
 */
export const storedObjects = /* sql */ `
CREATE FUNCTION need_objects(keys text[], until timestamptz DEFAULT '-infinity') RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  found integer;
BEGIN
  UPDATE stored_object SET delete_at = 'infinity', link_expires_at = greatest(link_expires_at, until)
  WHERE key = ANY (keys) AND NOT deleting;
  GET DIAGNOSTICS found = ROW_COUNT;
  IF found <> cardinality(keys) THEN
    RAISE EXCEPTION 'of the stored objects % only % are there', keys, found;
  END IF;
END $$;
`;
