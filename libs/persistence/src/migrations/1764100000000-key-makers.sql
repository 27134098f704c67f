ALTER TABLE api_key
  -- The key that made this one: it ends no later, and when its maker is revoked. Null for a key of the workspace itself.
  ADD COLUMN made_by uuid REFERENCES api_key (id) ON DELETE CASCADE DEFERRABLE,
  -- The subject of the access token that made it.
  ADD COLUMN made_by_subject text,
  -- Of a console session and of the code that opens it: when the session ends.
  ADD COLUMN session_until timestamptz;
