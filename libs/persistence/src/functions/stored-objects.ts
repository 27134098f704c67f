import { advisoryLocks } from '../locks.js';

/**
 * `need_objects(keys, until)` keeps objects from now on, and longer than any URL that was signed for them. It fails
 * if an object is missing or is being deleted, because then the row that references it must not be written.
 *
 * `reserve_file` writes the row of a file before its upload; the file counts as `max_bytes` long. It returns a row
 * only on refusal: the limit of the workspace that was reached, or `place` if the file's key already has a row. A
 * row whose upload was abandoned, and which is not being swept, is reused.
 */
export const storedObjects = /* sql */ `
CREATE OR REPLACE FUNCTION need_objects(keys text[], until timestamptz DEFAULT '-infinity') RETURNS void LANGUAGE plpgsql AS $$
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

CREATE OR REPLACE FUNCTION reserve_file(file_id uuid, file_key text, owner uuid, max_bytes bigint, doubt_s double precision)
RETURNS TABLE (refused text, max_allowed bigint) LANGUAGE plpgsql AS $$
DECLARE
  allowed workspace%ROWTYPE;
  files bigint;
  taken bigint;
BEGIN
  -- An advisory lock, because every admission waits for the lock of the workspace's row.
  PERFORM pg_advisory_xact_lock(${advisoryLocks.fileReservation}, hashtext(owner::text));
  SELECT * INTO STRICT allowed FROM workspace WHERE id = owner;
  SELECT count(*), coalesce(sum(bytes), 0) INTO files, taken FROM stored_object
  WHERE workspace_id = owner AND NOT deleting AND delete_at > router_now();
  IF files >= allowed.file_limit THEN
    RETURN QUERY SELECT 'files', allowed.file_limit::bigint;
  ELSIF taken + max_bytes > allowed.file_bytes_limit THEN
    RETURN QUERY SELECT 'bytes', allowed.file_bytes_limit::bigint;
  ELSE
    INSERT INTO stored_object (key, owner_id, delete_at, workspace_id, bytes)
    VALUES (file_key, file_id, router_now() + make_interval(secs => doubt_s), owner, max_bytes)
    ON CONFLICT (key) DO UPDATE SET delete_at = excluded.delete_at, bytes = excluded.bytes
      WHERE stored_object.content_type IS NULL AND NOT stored_object.deleting AND stored_object.delete_at <= router_now();
    IF NOT FOUND THEN
      RETURN QUERY SELECT 'place', 1::bigint;
    END IF;
  END IF;
END $$;
`;
