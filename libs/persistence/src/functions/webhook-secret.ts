/** The default of a workspace's column calls it. In the form of Standard Webhooks: 32 random bytes, of which 12 bits are fixed. */
export const webhookSecret = /* sql */ `
CREATE OR REPLACE FUNCTION new_webhook_secret() RETURNS text LANGUAGE sql VOLATILE
RETURN 'whsec_' || encode(uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid()), 'base64');
`;
