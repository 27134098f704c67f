import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { mayMatch } from './entitlement.js';

describe('mayMatch', () => {
  it.each([
    [['**'], 'bfl/flux-2-pro', true],
    [['*'], 'bfl/flux-2-pro', true],
    [['*/*'], 'bfl/flux-2-pro', true],
    [['bfl/*'], 'bfl/flux-2-pro', true],
    [['bfl/*'], 'fal/flux-dev', false],
    [['fal/flux-*', 'bfl/flux-2-pro'], 'bfl/flux-2-pro', true],
    [['fal/flux-*'], 'fal/veo-3.1', false],
    [['*/flux-{dev,schnell}'], 'fal/flux-dev', true],
    [['bfl'], 'bfl/flux-2-pro', false],
    [['bfl/flux-pro-1.1'], 'bfl/flux-pro-1x1', false],
    [['!bfl/*'], 'fal/flux-dev', false],
    [[''], 'fal/flux-dev', false],
    [[], 'bfl/flux-2-pro', false],
  ])('%j matches %s: %s', (globs, id, covered) => expect(mayMatch(globs, id)).toBe(covered));

  it('matches an id without wildcards only with itself', () => {
    const segment = fc.stringMatching(/^[a-z0-9]{1,6}([._-][a-z0-9]{1,4})?$/);
    fc.assert(
      fc.property(segment, segment, segment, (provider, model, other) => {
        expect(mayMatch([`${provider}/${model}`], `${provider}/${model}`)).toBe(true);
        expect(mayMatch([`${provider}/${model}`], `${provider}/${other}`)).toBe(model === other);
      }),
    );
  });

  it('stays correct after more globs than the cache holds', () => {
    for (let index = 0; index < 1500; index += 1) {
      expect(mayMatch([`p${index}/*`], `p${index}/m`)).toBe(true);
    }
    expect(mayMatch(['p0/*'], 'p1/m')).toBe(false);
  });
});
