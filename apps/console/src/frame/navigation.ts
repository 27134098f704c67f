import {
  BookOpen,
  ChartColumn,
  FileUp,
  Grid2x2,
  History,
  Images,
  KeyRound,
  Layers,
  ListTree,
  type LucideIcon,
  ServerCog,
  Settings,
  Users,
  Webhook,
} from 'lucide-react';
import { texts } from '../texts/index.ts';

export interface Destination {
  to: string;
  label: string;
  Icon: LucideIcon;
}

const { frame } = texts;

export const pages: readonly Destination[] = [
  { to: '/models', label: frame.models, Icon: Grid2x2 },
  { to: '/runs', label: frame.runs, Icon: ListTree },
  { to: '/outputs', label: frame.outputs, Icon: Images },
  { to: '/usage', label: frame.usage, Icon: ChartColumn },
  { to: '/files', label: frame.files, Icon: FileUp },
  { to: '/webhooks', label: frame.webhooks, Icon: Webhook },
  { to: '/keys', label: frame.keys, Icon: KeyRound },
  { to: '/settings', label: frame.settings, Icon: Settings },
];

/** Listed next to the API reference. */
export const guide: Destination = { to: '/guide/', label: frame.guide, Icon: BookOpen };

/** For credentials with the scope `operate`. */
export const operatorPages: readonly Destination[] = [
  { to: '/workspaces', label: frame.workspaces, Icon: Users },
  { to: '/providers', label: frame.providers, Icon: ServerCog },
  { to: '/queues', label: frame.queues, Icon: Layers },
  { to: '/audit', label: frame.audit, Icon: History },
];
