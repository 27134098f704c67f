import { api } from '../../api/client.ts';
import type { ApiKey } from '../../api/keys.ts';
import { Confirm } from '../../parts/confirm.tsx';
import { texts } from '../../texts/index.ts';

export function RevokeKey({ apiKey, isOwn }: { apiKey: ApiKey; isOwn: boolean }) {
  const { id, kind } = apiKey;
  const name = kind === 'key' ? apiKey.name : texts.keys.kinds[kind];
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
