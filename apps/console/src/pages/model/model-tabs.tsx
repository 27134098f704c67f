import { Tabs } from '@mantine/core';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import type { ModelDocument, StreamTerms } from '../../api/model-document.ts';
import type { ModelEntry } from '../../api/models.ts';
import { texts } from '../../texts/index.ts';
import { AboutTab } from './about-tab.tsx';
import { CodeTab } from './code-tab.tsx';
import classes from './model.module.css';
import { RunsTab } from './runs-tab.tsx';
import { SchemaTab } from './schema-tab.tsx';
import { type Tab, tabs } from './search.ts';

const route = getRouteApi('/models/$provider/$model');

interface ModelTabsProps {
  id: string;
  document: ModelDocument;
  entry: ModelEntry | undefined;
  text: string;
  /** How the call requests a stream, if it does. */
  stream: StreamTerms | undefined;
}

export function ModelTabs({ id, document, entry, text, stream }: ModelTabsProps) {
  const { tab = 'code' } = route.useSearch();
  const navigate = useNavigate({ from: '/models/$provider/$model' });
  const show = (next: string | null) =>
    void navigate({ search: (now) => ({ ...now, tab: next as Tab }), replace: true, resetScroll: false });
  return (
    <Tabs value={tab} onChange={show} keepMounted={false} className={classes.tabs}>
      <Tabs.List>
        {tabs.map((each) => (
          <Tabs.Tab key={each} value={each}>
            {texts.model.tabs[each]}
          </Tabs.Tab>
        ))}
      </Tabs.List>
      <Tabs.Panel value="code">
        <CodeTab id={id} text={text} stream={stream} headers={document.headers} />
      </Tabs.Panel>
      <Tabs.Panel value="schema">
        <SchemaTab document={document} />
      </Tabs.Panel>
      <Tabs.Panel value="runs">
        <RunsTab id={id} />
      </Tabs.Panel>
      <Tabs.Panel value="about">{entry !== undefined && <AboutTab entry={entry} />}</Tabs.Panel>
    </Tabs>
  );
}
