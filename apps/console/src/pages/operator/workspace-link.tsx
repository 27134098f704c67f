import { Button, Modal, Switch } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { api, bodyOf } from '../../api/client.ts';
import type { Scope, Workspace } from '../../api/operator.ts';
import { Failure } from '../../parts/failure.tsx';
import { texts } from '../../texts/index.ts';
import classes from './operator.module.css';
import { ShownLink } from './shown-link.tsx';

export function WorkspaceLink({ workspace, close }: { workspace: Workspace | undefined; close: () => void }) {
  return (
    <Modal
      opened={workspace !== undefined}
      onClose={close}
      title={texts.workspaces.linkTitle(workspace?.name ?? '')}
    >
      {workspace && <NewLink key={workspace.id} workspace={workspace} close={close} />}
    </Modal>
  );
}

const allScopes = Object.keys(texts.keys.scope) as Scope[];

function NewLink({ workspace: { id }, close }: { workspace: Workspace; close: () => void }) {
  const [mayManage, setManage] = useState(false);
  const creation = useMutation({
    mutationFn: () =>
      bodyOf(
        api.POST('/v2/operator/workspaces/{workspace}/sign-in-links', {
          params: { path: { workspace: id } },
          body: { scopes: allScopes.filter((scope) => mayManage || scope !== 'manage') },
        }),
      ),
  });
  if (creation.data)
    return (
      <div className={classes.form} role="status">
        <ShownLink link={creation.data} />
        <div className={classes.buttons}>
          <Button variant="default" onClick={close}>
            {texts.parts.close}
          </Button>
        </div>
      </div>
    );
  return (
    <div className={classes.form}>
      <p>{texts.workspaces.linkText}</p>
      <Switch
        label={texts.workspaces.mayManage}
        description={texts.workspaces.mayManageText}
        checked={mayManage}
        onChange={({ currentTarget }) => setManage(currentTarget.checked)}
      />
      {creation.error && <Failure error={creation.error} title={texts.parts.notDone} />}
      <div className={classes.buttons}>
        <Button variant="default" onClick={close}>
          {texts.parts.cancel}
        </Button>
        <Button loading={creation.isPending} onClick={() => creation.mutate()}>
          {texts.workspaces.makeLink}
        </Button>
      </div>
    </div>
  );
}
