import { Badge, Table } from '@mantine/core';
import type { ApiKey, RotatedKey } from '../../api/keys.ts';
import { Moment } from '../../parts/moment.tsx';
import { StateMark } from '../../parts/state-mark.tsx';
import { texts } from '../../texts/index.ts';
import classes from './keys-page.module.css';
import { KeySpend } from './key-spend.tsx';
import { RevokeKey } from './revoke-key.tsx';
import { RotateKey } from './rotate-key.tsx';

interface KeyRowProps {
  apiKey: ApiKey;
  isOwn: boolean;
  /** The keys of the list, among which the row finds its predecessor and its successor. */
  listed: readonly ApiKey[];
  onRotated: (key: RotatedKey) => void;
}

export function KeyRow({ apiKey, isOwn, listed, onRotated }: KeyRowProps) {
  const { id, name, kind, prefix, scopes, tags, state, created_at, last_used_at, rotated_to } = apiKey;
  const lastUse = last_used_at === undefined ? texts.keys.unused : <Moment at={last_used_at} />;
  const successor = listed.find((other) => other.id === rotated_to);
  const predecessor = listed.find((other) => other.rotated_to === id);
  const isLive = state === 'live';
  return (
    <Table.Tr className={classes.row} data-dead={!isLive}>
      <Table.Td className={classes.name}>
        <span>
          {kind === 'key' ? name : texts.keys.kinds[kind]}{' '}
          {isOwn && <span className="dimmed">{texts.keys.own}</span>}
        </span>
        <code className="dimmed">{prefix}…</code>
        {predecessor && <Related text={texts.keys.replaces} to={predecessor} />}
        {rotated_to !== undefined && <Related text={texts.keys.replacedBy} to={successor} />}
        <div className={`narrow-only ${classes.small}`}>
          <div>{scopes.join(', ')}</div>
          <div>
            {texts.keys.lastUse}: {lastUse}
          </div>
          <KeySpend apiKey={apiKey} />
        </div>
      </Table.Td>
      <Table.Td className={`wide-only ${classes.scopes}`}>
        {scopes.map((scope) => (
          <Badge key={scope} variant="default" className={classes.scope}>
            {scope}
          </Badge>
        ))}
        {Object.entries(tags ?? {}).map(([tag, value]) => (
          <code key={tag} className={classes.tag}>
            {tag}={value}
          </code>
        ))}
      </Table.Td>
      <Table.Td>
        <StateMark tone={isLive ? 'good' : 'calm'}>{texts.keys.states[state]}</StateMark>
        <Until apiKey={apiKey} />
      </Table.Td>
      <Table.Td className={`wide-only ${classes.moment}`}>{lastUse}</Table.Td>
      <Table.Td className="wide-only">
        <KeySpend apiKey={apiKey} />
      </Table.Td>
      <Table.Td className={`wide-only ${classes.moment}`}>
        <Moment at={created_at} />
      </Table.Td>
      <Table.Td className={classes.action}>
        {isLive && (
          <div className={classes.actions}>
            {kind === 'key' && !isOwn && rotated_to === undefined && (
              <RotateKey apiKey={apiKey} onRotated={onRotated} />
            )}
            <RevokeKey apiKey={apiKey} isOwn={isOwn} />
          </div>
        )}
      </Table.Td>
    </Table.Tr>
  );
}

const Related = ({ text, to }: { text: string; to: ApiKey | undefined }) => (
  <div className={classes.small}>
    {text} {to && <code>{to.prefix}…</code>}
  </div>
);

function Until({ apiKey: { state, expires_at } }: { apiKey: ApiKey }) {
  if (state !== 'live' || expires_at === undefined) return null;
  return (
    <div className={classes.small}>
      {texts.keys.ends} <Moment at={expires_at} />
    </div>
  );
}
