import { Button } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { session } from '../../api/session.ts';
import { Command } from '../../parts/command.tsx';
import { texts } from '../../texts/index.ts';
import { firstRun } from './first-run.ts';
import classes from './home.module.css';

/** Two ways to a first result. Folded once the workspace has runs. */
export function Quickstart({ isFolded, mayMakeKeys }: { isFolded: boolean; mayMakeKeys: boolean }) {
  const { shown, full } = firstRun(location.origin, session.credential() ?? '');
  return (
    <details className={classes.quickstart} open={!isFolded}>
      <summary>
        <h2>{texts.home.start}</h2>
      </summary>
      <div className={classes.steps}>
        <p>{texts.home.startText}</p>
        <Command text={shown} copied={full} label={texts.home.copyCommand} />
        <p className="dimmed">{texts.home.keyText}</p>
        <div className={classes.buttons}>
          <Button component={Link} to="/models">
            {texts.home.browse}
          </Button>
          {mayMakeKeys && (
            <Link to="/keys" search={{ new: true }}>
              {texts.home.newKey}
            </Link>
          )}
          <Link to="/guide/$" params={{ _splat: 'quickstart' }}>
            {texts.home.guide}
          </Link>
        </div>
      </div>
    </details>
  );
}
