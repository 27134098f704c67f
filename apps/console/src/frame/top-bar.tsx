import { Button, Kbd, Menu, Skeleton, Tooltip } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { ChevronDown, LogOut, Search } from 'lucide-react';
import { Problem } from '../api/problem.ts';
import { session } from '../api/session.ts';
import { workspaceQuery } from '../api/workspace.ts';
import { dollarsOfCents } from '../parts/money.ts';
import { texts } from '../texts/index.ts';
import { palette } from './palette-state.ts';
import { ThemeMenu } from './theme-menu.tsx';
import classes from './top-bar.module.css';

export function TopBar() {
  const workspace = useQuery(workspaceQuery);
  const name = workspace.data?.name ?? (workspace.isError ? texts.frame.workspace : undefined);
  const queries = useQueryClient();
  const signOut = () => {
    session.signOut();
    queries.clear();
  };
  return (
    <header className={classes.bar}>
      <Menu position="bottom-start">
        <Menu.Target>
          <Button
            variant="subtle"
            color="gray"
            className={classes.workspace}
            rightSection={<ChevronDown size={14} aria-hidden />}
            aria-label={`${texts.frame.account}: ${name ?? texts.parts.loading}`}
          >
            {name ?? <Skeleton width={72} height={14} />}
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item leftSection={<LogOut size={16} aria-hidden />} onClick={signOut}>
            {texts.frame.signOut}
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      <Credits cents={workspace.data?.credits_cents} error={workspace.error} />
      <Button
        variant="default"
        className={classes.search}
        leftSection={<Search size={14} aria-hidden />}
        rightSection={<Kbd className={classes.keys}>⌘K</Kbd>}
        aria-label={texts.frame.paletteHint}
        onClick={palette.open}
      >
        <span className={classes.searchLabel}>{texts.frame.palette}</span>
      </Button>
      <ThemeMenu />
    </header>
  );
}

function Credits({ cents, error }: { cents: number | null | undefined; error: Error | null }) {
  if (cents === undefined && error !== null) {
    const isForbidden = error instanceof Problem && error.bucket === 'forbidden';
    return (
      <Tooltip
        label={isForbidden ? texts.parts.needsScope('workspace') : error.message}
        multiline
        w={240}
        events={{ hover: true, focus: true, touch: true }}
      >
        <span className={classes.credits} tabIndex={0}>
          {isForbidden ? texts.frame.creditsForbidden : texts.frame.creditsUnread}
        </span>
      </Tooltip>
    );
  }
  if (cents === undefined) return <Skeleton width={84} height={14} />;
  return (
    <Tooltip label={texts.frame.creditsMeaning} multiline w={240}>
      <span className={`figures ${classes.credits}`}>
        {cents === null ? texts.frame.creditsUnlimited : texts.frame.credits(dollarsOfCents(cents))}
      </span>
    </Tooltip>
  );
}
