import { CloseButton } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useModels } from '../../api/models.ts';
import { texts } from '../../texts/index.ts';
import classes from './compare.module.css';

/** The model of a column, and a button that removes the column. */
export function ColumnHead({ model, remove }: { model: string | undefined; remove: () => void }) {
  const entry = useModels().models.find(({ id }) => id === model);
  const [provider = '', name = ''] = (model ?? '').split('/');
  return (
    <header className={classes.head}>
      <div>
        <h2>{entry?.title ?? model ?? '…'}</h2>
        {model !== undefined && (
          <Link to="/models/$provider/$model" params={{ provider, model: name }}>
            <code>{model}</code>
          </Link>
        )}
      </div>
      <CloseButton
        size="sm"
        aria-label={texts.compare.remove(entry?.title ?? model ?? '')}
        onClick={remove}
      />
    </header>
  );
}
