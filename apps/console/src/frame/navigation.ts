import {
  BookOpen,
  Braces,
  ChartColumn,
  FileUp,
  Grid2x2,
  History,
  House,
  Images,
  KeyRound,
  Layers,
  ListTree,
  type LucideIcon,
  ServerCog,
  Settings,
  Users,
  Wallet,
  Webhook,
} from 'lucide-react';
import { texts } from '../texts/index.ts';

export interface Destination {
  to: string;
  label: string;
  Icon: LucideIcon;
}

interface Page extends Destination {
  /** The scope without which the page can show nothing. */
  scope: string;
}

const { frame } = texts;

/** Shows what the credential allows. */
const home: Destination = { to: '/', label: frame.home, Icon: House };

const pages: readonly Page[] = [
  { to: '/models', label: frame.models, Icon: Grid2x2, scope: 'catalog' },
  { to: '/runs', label: frame.runs, Icon: ListTree, scope: 'requests' },
  { to: '/outputs', label: frame.outputs, Icon: Images, scope: 'requests' },
  { to: '/usage', label: frame.usage, Icon: ChartColumn, scope: 'usage' },
  { to: '/files', label: frame.files, Icon: FileUp, scope: 'requests' },
  { to: '/webhooks', label: frame.webhooks, Icon: Webhook, scope: 'requests' },
  { to: '/keys', label: frame.keys, Icon: KeyRound, scope: 'manage' },
  { to: '/budgets', label: frame.budgets, Icon: Wallet, scope: 'manage' },
  { to: '/settings', label: frame.settings, Icon: Settings, scope: 'workspace' },
];

/** Pages that need no credential. */
export const reading: readonly Destination[] = [
  { to: '/guide/', label: frame.guide, Icon: BookOpen },
  { to: '/reference', label: frame.reference, Icon: Braces },
];

const operatorPages: readonly Page[] = [
  { to: '/workspaces', label: frame.workspaces, Icon: Users, scope: 'operate' },
  { to: '/providers', label: frame.providers, Icon: ServerCog, scope: 'operate' },
  { to: '/queues', label: frame.queues, Icon: Layers, scope: 'operate' },
  { to: '/audit', label: frame.audit, Icon: History, scope: 'operate' },
];

/** The pages that a credential with these scopes can use; without scopes, which are unknown then, all of a workspace. */
export function pagesFor(scopes: readonly string[] | undefined): {
  own: readonly Destination[];
  operator: readonly Destination[];
} {
  return {
    own: [home, ...pages.filter(({ scope }) => scopes?.includes(scope) ?? true)],
    operator: operatorPages.filter(({ scope }) => scopes?.includes(scope)),
  };
}
