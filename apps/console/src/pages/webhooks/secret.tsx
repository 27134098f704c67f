import { Button, Skeleton } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Eye, EyeOff } from 'lucide-react';
import { useState } from 'react';
import { api } from '../../api/client.ts';
import { useScope } from '../../api/workspace.ts';
import { secretQuery } from '../../api/webhooks.ts';
import { Confirm } from '../../parts/confirm.tsx';
import { CopyText } from '../../parts/copy-text.tsx';
import { Failure } from '../../parts/failure.tsx';
import { texts } from '../../texts/index.ts';
import classes from './webhooks-page.module.css';

/** The signing secret. Needs the scope `manage`, and stays hidden until the user reveals it. */
export function Secret() {
  const mayManage = useScope('manage');
  const { data, error } = useQuery({ ...secretQuery, enabled: mayManage === true });
  const [isShown, setShown] = useState(false);
  const Icon = isShown ? EyeOff : Eye;
  return (
    <section className={classes.secret} aria-label={texts.webhooks.secret}>
      <div>
        <h2>{texts.webhooks.secret}</h2>
        <p className="dimmed">{texts.webhooks.secretText}</p>
      </div>
      {mayManage === false ? (
        <p>{texts.parts.needsScope('manage')}</p>
      ) : error ? (
        <Failure error={error} />
      ) : data === undefined ? (
        <Skeleton height={36} />
      ) : (
        <div className={classes.value}>
          <code>{isShown ? data.secret : `whsec_${'•'.repeat(24)}`}</code>
          <CopyText text={data.secret} label={texts.webhooks.copySecret} />
          <Button
            variant="default"
            size="xs"
            leftSection={<Icon size={14} aria-hidden />}
            onClick={() => setShown(!isShown)}
            aria-pressed={isShown}
          >
            {isShown ? texts.webhooks.hide : texts.webhooks.show}
          </Button>
          <Confirm
            label={texts.webhooks.rotate}
            title={texts.webhooks.rotateTitle}
            detail={texts.webhooks.rotateText}
            act={() => api.POST('/v2/webhooks/secret')}
            changes={['webhooks', 'secret']}
          />
        </div>
      )}
    </section>
  );
}
