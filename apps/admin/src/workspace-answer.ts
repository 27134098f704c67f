import type { Workspace } from '#persistence';
import { centsFromMicros, centsText } from '#schemas';
import type { Answer } from './answer.js';

/** A workspace as the JSON documents show it; `credits_cents` is null for unlimited. */
export const workspaceDocument = (workspace: Workspace) => ({
  id: workspace.id,
  name: workspace.name,
  enabled: workspace.enabled,
  visible: workspace.visible,
  runnable: workspace.runnable,
  markup: workspace.markup,
  credits_cents: workspace.balanceMicros === null ? null : centsFromMicros(workspace.balanceMicros),
});

/** One workspace, after it was created or changed. */
export const workspaceAnswer = (workspace: Workspace): Answer => ({
  document: workspaceDocument(workspace),
  text: [
    `workspace  ${workspace.name}`,
    `id         ${workspace.id}`,
    `state      ${workspace.enabled ? 'enabled' : 'disabled'}`,
    `visible    ${workspace.visible.join(',') || 'none'}`,
    `runnable   ${workspace.runnable.join(',') || 'none'}`,
    `mark-up    ${workspace.markup}`,
    `credits    ${centsText(workspace.balanceMicros)}${workspace.balanceMicros === null ? '' : ' cents'}`,
  ].join('\n'),
});
