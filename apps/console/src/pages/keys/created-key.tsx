import { Button } from '@mantine/core';
import { CircleCheck } from 'lucide-react';
import type { NewApiKey, RotatedKey } from '../../api/keys.ts';
import { Command } from '../../parts/command.tsx';
import { Moment } from '../../parts/moment.tsx';
import { texts } from '../../texts/index.ts';
import classes from './keys-page.module.css';

/** The only place that ever shows a key. */
export function CreatedKey({ created, close }: { created: NewApiKey | RotatedKey; close: () => void }) {
  const { name, key } = created;
  return (
    <section className={classes.created} role="status" aria-label={texts.keys.made(name)}>
      <h2>
        <CircleCheck size={18} aria-hidden />
        {texts.keys.made(name)}
      </h2>
      <p className="dimmed">{texts.keys.once}</p>
      {'former_ends_at' in created && (
        <p className="dimmed">
          {texts.keys.formerEnds} <Moment at={created.former_ends_at} />.
        </p>
      )}
      <Command text={key} label={texts.keys.copyKey} />
      <p className="dimmed">{texts.keys.tryIt}</p>
      <Command
        text={`curl '${location.origin}/v2/models?limit=3' -H 'X-API-Key: ${key}'`}
        label={texts.keys.copyCommand}
      />
      <div className={classes.buttons}>
        <Button variant="default" onClick={close}>
          {texts.keys.stored}
        </Button>
      </div>
    </section>
  );
}
