import { readSettings } from '#schemas';
import { expect, it } from '@jest/globals';
import { actorOf, actorSettings } from './actor.js';

const actorIn = (env: NodeJS.ProcessEnv) => actorOf(readSettings(actorSettings, env));

it('an action names the process, and the person if one is given', () => {
  expect(actorIn({})).toMatch(/^admin:.+@.+$/);
  expect(actorIn({ ADMIN_ACTOR: '' })).toBe(actorIn({}));
  expect(actorIn({ ADMIN_ACTOR: 'alice' })).toBe(`alice via ${actorIn({})}`);
});

it.each(['a\nb', ' alice', 'x'.repeat(129)])('the name %j is rejected', (name) => {
  expect(() => actorIn({ ADMIN_ACTOR: name })).toThrow('ADMIN_ACTOR: must');
});
