import { Menu, UnstyledButton } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { Ellipsis } from 'lucide-react';
import { texts } from '../texts/index.ts';
import { type Destination, pagesFor, reading } from './navigation.ts';
import classes from './rail.module.css';

/** Number of pages that the phone's bar shows next to "More". */
const onPhones = 4;

/** A sidebar on the left, icons only below 1100 px, and a bottom bar on phones. */
export function Rail({ scopes }: { scopes: readonly string[] | undefined }) {
  const { own, operator } = pagesFor(scopes);
  const hidden = [...own.slice(onPhones), ...operator, ...reading];
  return (
    <nav className={classes.rail} aria-label={texts.frame.primary}>
      <Link to="/" className={classes.brand}>
        <img src="/console/mark.svg" alt="" width={24} height={24} />
        <span className={classes.label}>{texts.product}</span>
      </Link>
      {own.map((page, place) => (
        <RailLink key={page.to} page={page} isHiddenOnPhones={place >= onPhones} />
      ))}
      {operator.length > 0 && (
        <div className={classes.operator}>
          <span className={classes.heading}>{texts.frame.operator}</span>
          {operator.map((page) => (
            <RailLink key={page.to} page={page} isHiddenOnPhones />
          ))}
        </div>
      )}
      <div className={classes.reading}>
        {reading.map((page) => (
          <RailLink key={page.to} page={page} isHiddenOnPhones />
        ))}
      </div>
      <Menu position="top-end" withinPortal>
        <Menu.Target>
          <UnstyledButton className={classes.more}>
            <Ellipsis size={18} aria-hidden />
            <span className={classes.label}>{texts.frame.more}</span>
          </UnstyledButton>
        </Menu.Target>
        <Menu.Dropdown>
          {hidden.map(({ to, label, Icon }) => (
            <Menu.Item key={to} component={Link} to={to} leftSection={<Icon size={16} aria-hidden />}>
              {label}
            </Menu.Item>
          ))}
        </Menu.Dropdown>
      </Menu>
    </nav>
  );
}

function RailLink({ page, isHiddenOnPhones }: { page: Destination; isHiddenOnPhones: boolean }) {
  const { to, label, Icon } = page;
  return (
    <Link
      to={to}
      title={label}
      className={`${classes.link} ${isHiddenOnPhones ? classes.hiddenOnPhones : ''}`}
      activeOptions={{ exact: to === '/' }}
      activeProps={{ className: classes.active }}
    >
      <Icon size={18} aria-hidden />
      <span className={classes.label}>{label}</span>
    </Link>
  );
}
