import { expect, it } from '@jest/globals';
import { actorOf } from './actor.js';

it('an action names the process, and the person if one is given', () => {
  expect(actorOf({})).toMatch(/^admin:.+@.+$/);
  expect(actorOf({ ADMIN_ACTOR: '' })).toBe(actorOf({}));
  expect(actorOf({ ADMIN_ACTOR: 'alice' })).toBe(`alice via ${actorOf({})}`);
});

it.each(['a\nb', ' alice', 'x'.repeat(129)])('the name %j is rejected', (name) => {
  expect(() => actorOf({ ADMIN_ACTOR: name })).toThrow('ADMIN_ACTOR: must');
});
