import { Switch, TagsInput } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { api, bodyOf } from '../../api/client.ts';
import type { components } from '../../api/openapi.d.ts';
import { workspaceQuery } from '../../api/workspace.ts';
import { Failure } from '../../parts/failure.tsx';
import { texts } from '../../texts/index.ts';
import classes from './settings-page.module.css';

type Workspace = components['schemas']['RouterWorkspace'];
type Change = components['schemas']['RouterWorkspaceChange'];

/** The terms of the workspace. Each change is saved at once. */
export function Terms({
  terms,
}: {
  terms: Pick<Workspace, 'allow_samples' | 'allow_provider_tools' | 'required_tags' | 'requires_user'>;
}) {
  const queries = useQueryClient();
  const saving = useMutation({
    mutationFn: (body: Change) => bodyOf(api.PATCH('/v2/workspace', { body })),
    onSuccess: (workspace) => queries.setQueryData(workspaceQuery.queryKey, workspace),
  });
  // A change is shown before its answer comes.
  const shown = saving.isPending ? { ...terms, ...saving.variables } : terms;
  return (
    <div className={classes.terms}>
      <Switch
        label={texts.settings.allowSamples}
        description={texts.settings.allowSamplesHint}
        checked={shown.allow_samples}
        onChange={(event) => saving.mutate({ allow_samples: event.currentTarget.checked })}
      />
      <Switch
        label={texts.settings.allowProviderTools}
        description={texts.settings.allowProviderToolsHint}
        checked={shown.allow_provider_tools}
        onChange={(event) => saving.mutate({ allow_provider_tools: event.currentTarget.checked })}
      />
      <Switch
        label={texts.settings.requiresUser}
        checked={shown.requires_user}
        onChange={(event) => saving.mutate({ requires_user: event.currentTarget.checked })}
      />
      <TagsInput
        label={texts.settings.requiredTags}
        description={texts.settings.requiredTagsHint}
        value={shown.required_tags}
        onChange={(names) => saving.mutate({ required_tags: names })}
      />
      {saving.error && <Failure error={saving.error} title={texts.settings.termsNotSet} />}
    </div>
  );
}
