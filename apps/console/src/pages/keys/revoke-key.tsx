import { api } from '../../api/client.ts';
import type { ApiKey } from '../../api/keys.ts';
import { Confirm } from '../../parts/confirm.tsx';
import { texts } from '../../texts.ts';

export function RevokeKey({ apiKey: { id, name }, isOwn }: { apiKey: ApiKey; isOwn: boolean }) {
  return (
    <Confirm
      label={texts.keys.revoke}
      of={name}
      title={texts.keys.revokeTitle(name)}
      detail={isOwn ? texts.keys.revokeOwn : texts.keys.revokeText}
      act={() => api.DELETE('/v2/keys/{key_id}', { params: { path: { key_id: id } } })}
      changes={['keys']}
    />
  );
}
