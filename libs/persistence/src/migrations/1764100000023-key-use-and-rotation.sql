-- last_used_at: about when the key was last used. rotated_to: the key that replaced this one. first_id: of a successor, the
-- first of the keys that were rotated to it, under whose id budgets count them all.
ALTER TABLE api_key ADD COLUMN last_used_at timestamptz, ADD COLUMN rotated_to uuid, ADD COLUMN first_id uuid;
