import { advisoryLocks } from '../locks.js';

/**
 * A key's makers are the key that made it, the key that made that one, and so on. A key is live only while all of
 * them are.
 *
 * `make_key` returns the new row, or the reason for a refusal. A console session acts for the key or the person
 * that opened it, so a key that it makes has the session's maker.
 *
 * `revoke_keys` also revokes every key made by the given ones. `rotate_key` first gives those to the new key. Callers
 * rotate only keys that end with their own maker. Otherwise a thief could rotate a leaked key to outlive its revocation.
 */
export const apiKeys = /* sql */ `
-- Returns the key and its makers, nearest first.
CREATE OR REPLACE FUNCTION key_and_makers(key_id uuid) RETURNS SETOF api_key LANGUAGE sql STABLE AS $$
  WITH RECURSIVE makers AS (
    SELECT api_key.* FROM api_key WHERE id = key_id
    UNION
    SELECT maker.* FROM makers JOIN api_key AS maker ON maker.id = makers.made_by
  )
  SELECT * FROM makers
$$;

-- Returns when the key or the first of its makers expires: 'infinity' for never, '-infinity' if one of them is revoked.
CREATE OR REPLACE FUNCTION key_end(key_id uuid) RETURNS timestamptz LANGUAGE sql STABLE AS $$
  SELECT min(CASE WHEN revoked_at IS NULL THEN coalesce(expires_at, 'infinity') ELSE '-infinity' END)
  FROM key_and_makers(key_id)
$$;

-- An advisory lock, because every admission waits for the lock of the workspace's row.
CREATE OR REPLACE FUNCTION lock_keys(space uuid) RETURNS void LANGUAGE sql AS $$
  SELECT pg_advisory_xact_lock(${advisoryLocks.apiKeys}, hashtext(space::text))
$$;

CREATE OR REPLACE FUNCTION record_key_action(actor text, action text, key api_key, details jsonb DEFAULT '{}')
RETURNS void LANGUAGE sql AS $$
  INSERT INTO operator_action (actor, action, subject, details)
  SELECT record_key_action.actor, record_key_action.action, key.id::text, jsonb_build_object(
    'workspace', workspace.name, 'name', key.name, 'prefix', key.prefix, 'scopes', key.scopes,
    'made_by', key.made_by, 'expires_at', key.expires_at)
    || CASE WHEN key.tags IS NULL THEN '{}' ELSE jsonb_build_object('tags', key.tags) END || details
  FROM workspace WHERE workspace.id = key.workspace_id
$$;

-- Returns the limit that a new key would exceed. Without a max_a_day, there is no daily limit.
CREATE OR REPLACE FUNCTION keys_exceeded(space uuid, max_live integer, max_a_day integer) RETURNS text LANGUAGE sql STABLE AS $$
  SELECT CASE
    WHEN (SELECT count(*) FROM api_key WHERE workspace_id = space AND id >= v7_floor(router_now() - interval '1 day')) >= max_a_day
      THEN 'too_many_a_day'
    WHEN (SELECT count(*) FROM api_key WHERE workspace_id = space AND revoked_at IS NULL
      AND (expires_at IS NULL OR expires_at > router_now())) >= max_live THEN 'too_many'
  END
$$;

-- by_key and by_subject: the caller's key, or the subject of the caller's access token. Both are null for an operator.
-- latest: when the caller's access token expires. code_s: how long a code works, in seconds. The new key also has the tags of
-- its maker: otherwise a call could escape them by making a key.
CREATE OR REPLACE FUNCTION make_key(key_id uuid, space uuid, key_name text, key_prefix text, key_hash bytea,
  key_scopes text[], ends timestamptz, is_code boolean, by_key uuid, by_subject text, latest timestamptz, actor text,
  max_live integer, max_a_day integer, max_makers integer, code_s double precision, key_tags jsonb, max_tags integer)
RETURNS TABLE (refused text, made api_key) LANGUAGE plpgsql AS $$
DECLARE
  caller api_key;
  maker uuid;
  session_end timestamptz;
BEGIN
  PERFORM lock_keys(space);
  IF by_key IS NOT NULL THEN
    SELECT * INTO caller FROM api_key WHERE id = by_key AND NOT one_time AND key_end(id) > router_now();
    IF caller.id IS NULL THEN
      RETURN QUERY SELECT 'caller_ended', NULL::api_key;
      RETURN;
    END IF;
    maker := CASE WHEN caller.session_until IS NULL THEN caller.id ELSE caller.made_by END;
    by_subject := caller.made_by_subject;
    latest := key_end(maker);
    IF (SELECT count(*) FROM key_and_makers(maker)) > max_makers THEN
      RETURN QUERY SELECT 'too_many_makers', NULL::api_key;
      RETURN;
    END IF;
    IF key_tags || caller.tags <> caller.tags || key_tags THEN
      RETURN QUERY SELECT 'contradicts_tags', NULL::api_key;
      RETURN;
    END IF;
    key_tags := coalesce(caller.tags || key_tags, caller.tags, key_tags);
    IF (SELECT count(*) FROM jsonb_object_keys(key_tags)) > max_tags THEN
      RETURN QUERY SELECT 'too_many_tags', NULL::api_key;
      RETURN;
    END IF;
  END IF;
  IF is_code THEN
    -- Sessions would open new sessions forever without this limit, which the exchange only lowers.
    session_end := least(router_now() + make_interval(secs => greatest(code_s - 900, 0)) + interval '12 hours', latest,
      caller.session_until);
    ends := least(router_now() + make_interval(secs => code_s), session_end);
  ELSIF by_key IS NULL THEN
    -- A person's key may outlive the access token that created it.
    NULL;
  ELSIF ends > latest THEN
    RETURN QUERY SELECT 'outlives_maker', NULL::api_key;
    RETURN;
  ELSE
    ends := coalesce(ends, nullif(latest, 'infinity'));
  END IF;
  -- Operators may exceed the daily limit: a leaked key may have used it up.
  refused := keys_exceeded(space, max_live, CASE WHEN coalesce(by_key::text, by_subject) IS NOT NULL THEN max_a_day END);
  IF refused IS NOT NULL THEN
    RETURN NEXT;
    RETURN;
  END IF;
  INSERT INTO api_key (id, workspace_id, name, prefix, hash, scopes, expires_at, one_time, made_by, made_by_subject,
    session_until, tags)
  VALUES (key_id, space, key_name, key_prefix, key_hash, key_scopes, ends, is_code, maker, by_subject, session_end,
    nullif(key_tags, '{}'))
  RETURNING api_key.* INTO made;
  PERFORM record_key_action(actor, CASE WHEN is_code THEN 'sign_in.create' ELSE 'key.create' END, made);
  RETURN NEXT;
END $$;

-- The signature of the previous release, which knows no tags.
CREATE OR REPLACE FUNCTION make_key(key_id uuid, space uuid, key_name text, key_prefix text, key_hash bytea,
  key_scopes text[], ends timestamptz, is_code boolean, by_key uuid, by_subject text, latest timestamptz, actor text,
  max_live integer, max_a_day integer, max_makers integer, code_s double precision)
RETURNS TABLE (refused text, made api_key) LANGUAGE sql AS $$
  SELECT * FROM make_key(key_id, space, key_name, key_prefix, key_hash, key_scopes, ends, is_code, by_key, by_subject,
    latest, actor, max_live, max_a_day, max_makers, code_s, NULL, 16)
$$;

-- The signature of an earlier release, whose codes work for 15 minutes.
CREATE OR REPLACE FUNCTION make_key(key_id uuid, space uuid, key_name text, key_prefix text, key_hash bytea,
  key_scopes text[], ends timestamptz, is_code boolean, by_key uuid, by_subject text, latest timestamptz, actor text,
  max_live integer, max_a_day integer, max_makers integer)
RETURNS TABLE (refused text, made api_key) LANGUAGE sql AS $$
  SELECT * FROM make_key(key_id, space, key_name, key_prefix, key_hash, key_scopes, ends, is_code, by_key, by_subject,
    latest, actor, max_live, max_a_day, max_makers, 900)
$$;

-- Returns the number of revoked keys. A key created concurrently is revoked too, because creation takes the same lock.
CREATE OR REPLACE FUNCTION revoke_keys(ids uuid[], actor text) RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
  ended uuid[];
BEGIN
  PERFORM lock_keys(workspace_id) FROM (
    SELECT DISTINCT workspace_id FROM api_key WHERE id = ANY (ids) ORDER BY workspace_id
  ) AS spaces;
  WITH RECURSIVE tree AS (
    SELECT id FROM api_key WHERE id = ANY (ids)
    UNION
    SELECT api_key.id FROM tree JOIN api_key ON api_key.made_by = tree.id
  ), revoked AS (
    UPDATE api_key SET revoked_at = router_now() FROM tree
    WHERE api_key.id = tree.id AND revoked_at IS NULL RETURNING api_key.id
  )
  SELECT coalesce(array_agg(id), '{}') INTO ended FROM revoked;
  IF cardinality(ended) > 0 THEN
    PERFORM record_key_action(actor, 'key.revoke', api_key, jsonb_build_object('ended', cardinality(ended)))
    FROM api_key WHERE id = ANY (ids);
  END IF;
  RETURN cardinality(ended);
END $$;

-- Whether a caller with a key may revoke or rotate another one: NULL, or the reason for the refusal. A key acts on what it made, a
-- session on what the key that opened it made. Sessions without such a key are opened by operators and people.
CREATE OR REPLACE FUNCTION key_refusal(by_key uuid, other api_key) RETURNS text LANGUAGE plpgsql STABLE AS $$
DECLARE
  caller api_key;
  maker uuid;
BEGIN
  IF by_key IS NULL THEN
    RETURN NULL;
  END IF;
  SELECT * INTO caller FROM api_key WHERE id = by_key AND NOT one_time AND key_end(id) > router_now();
  IF caller.id IS NULL THEN
    RETURN 'caller_ended';
  END IF;
  maker := CASE WHEN caller.session_until IS NULL THEN caller.id ELSE caller.made_by END;
  IF maker IS NULL OR EXISTS (SELECT FROM key_and_makers(other.made_by) WHERE id = maker) THEN
    RETURN NULL;
  END IF;
  RETURN 'not_made_by_caller';
END $$;

-- revoke_keys for a caller with the key by_key, which may always revoke itself.
CREATE OR REPLACE FUNCTION revoke_key(old_id uuid, actor text, by_key uuid) RETURNS TABLE (refused text, ended integer) LANGUAGE plpgsql AS $$
BEGIN
  PERFORM lock_keys(workspace_id) FROM api_key WHERE id = old_id;
  IF by_key <> old_id THEN
    SELECT key_refusal(by_key, api_key) INTO refused FROM api_key WHERE id = old_id;
  END IF;
  ended := CASE WHEN refused IS NULL THEN revoke_keys(ARRAY[old_id], actor) END;
  RETURN NEXT;
END $$;

-- Returns the new row and when the former key expires, or the reason for a refusal; no row if the key does not work or is a
-- session. by_key and by_subject are those of make_key.
CREATE OR REPLACE FUNCTION rotate_key(old_id uuid, new_id uuid, new_prefix text, new_hash bytea, keep_s double precision,
  actor text, by_key uuid, by_subject text, max_live integer, max_a_day integer)
RETURNS TABLE (refused text, made api_key, old_ends timestamptz) LANGUAGE plpgsql AS $$
DECLARE
  former api_key;
BEGIN
  PERFORM lock_keys(workspace_id) FROM api_key WHERE id = old_id;
  SELECT * INTO former FROM api_key WHERE id = old_id AND session_until IS NULL AND NOT one_time AND key_end(id) > router_now();
  IF former.id IS NULL THEN
    RETURN;
  END IF;
  IF by_key IS NOT NULL THEN
    SELECT made_by_subject INTO by_subject FROM api_key WHERE id = by_key;
    refused := key_refusal(by_key, former);
  END IF;
  IF coalesce(by_key::text, by_subject) IS NOT NULL THEN
    refused := coalesce(refused, keys_exceeded(former.workspace_id, max_live, max_a_day));
  END IF;
  IF refused IS NOT NULL THEN
    RETURN NEXT;
    RETURN;
  END IF;
  INSERT INTO api_key (id, workspace_id, name, prefix, hash, scopes, expires_at, made_by, made_by_subject, tags, first_id)
  VALUES (new_id, former.workspace_id, former.name, new_prefix, new_hash, former.scopes, former.expires_at, former.made_by,
    coalesce(by_subject, former.made_by_subject), former.tags, coalesce(former.first_id, former.id))
  RETURNING api_key.* INTO made;
  UPDATE api_key SET made_by = new_id WHERE made_by = old_id;
  UPDATE api_key SET expires_at = least(expires_at, router_now() + make_interval(secs => keep_s)),
    revoked_at = CASE WHEN keep_s = 0 THEN router_now() END, rotated_to = new_id
  WHERE id = old_id RETURNING expires_at INTO old_ends;
  PERFORM record_key_action(actor, 'key.rotate', former, jsonb_build_object('new_id', new_id, 'ends_at', old_ends));
  RETURN NEXT;
END $$;

-- The signature of the previous release, whose keys only operators rotate.
CREATE OR REPLACE FUNCTION rotate_key(old_id uuid, new_id uuid, new_prefix text, new_hash bytea, keep_s double precision,
  actor text)
RETURNS TABLE (made api_key, old_ends timestamptz) LANGUAGE sql AS $$
  SELECT made, old_ends FROM rotate_key(old_id, new_id, new_prefix, new_hash, keep_s, actor, NULL, NULL, NULL, NULL)
$$;
`;
