import type { OperatorActionView, Page } from '#schemas';
import { expect, it } from '@jest/globals';
import { sharedGateway } from '../gateways.js';

const gateway = sharedGateway();

it('lists the actions that concern a workspace, newest first, page by page', async () => {
  const { workspace } = await gateway().caller();
  const { caller } = await gateway().caller({}, ['operate']);
  for (const markup of [1, 2, 3])
    await caller.call('PATCH', `/v2/operator/workspaces/${workspace.id}`, { body: `{"markup":${markup}}` });
  const actions: OperatorActionView[] = [];
  const filter = `workspace=${encodeURIComponent(workspace.name)}&action=workspace.change`;
  for (let after = ''; ;) {
    const answer = await caller.call('GET', `/v2/operator/audit?limit=2&${filter}${after}`);
    const page = answer.json() as Page<OperatorActionView>;
    actions.push(...page.data);
    if (page.next_cursor === undefined) break;
    after = `&cursor=${encodeURIComponent(page.next_cursor)}`;
  }
  expect(actions.map(({ details }) => details)).toEqual([{ markup: 3 }, { markup: 2 }, { markup: 1 }]);
  expect(actions[0]).toEqual({
    id: expect.stringMatching(/^\d+$/),
    at: expect.stringMatching(/^\d{4}-\d\d-\d\dT.+Z$/),
    actor: expect.stringMatching(/^key:/),
    action: 'workspace.change',
    subject: workspace.name,
    workspace: workspace.name,
    details: { markup: 3 },
  });
  const found = async (more: string) => {
    const answer = await caller.call('GET', `/v2/operator/audit?${filter}&${more}`);
    return (answer.json() as Page<OperatorActionView>).data.length;
  };
  const [newest] = actions;
  expect(await found(`actor=${newest?.actor.toUpperCase()}`)).toBe(3);
  expect(await found('actor=nobody')).toBe(0);
  expect(await found(`subject=${encodeURIComponent(workspace.name)}`)).toBe(3);
  expect(await found('subject=other')).toBe(0);
  expect(await found(`since=${newest?.at}`)).toBe(1);
  expect(await found(`until=${newest?.at}`)).toBe(2);
});
