/**
 * Called by a column default of `workspace`. A secret in the format of Standard Webhooks: 32 random bytes, of which
 * 12 bits are fixed.
 */
export const webhookSecret = /* sql */ `
CREATE OR REPLACE FUNCTION new_webhook_secret() RETURNS text LANGUAGE sql VOLATILE
RETURN 'whsec_' || encode(uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid()), 'base64');
`;
