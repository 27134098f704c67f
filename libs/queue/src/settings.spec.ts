import { describe, expect, it } from '@jest/globals';
import { readSettings } from '#schemas';
import { queueSettings } from './settings.js';

describe('queue settings', () => {
  it('have defaults except for the servers', () => {
    expect(readSettings(queueSettings, {})).toEqual({
      QUEUE_COMMAND_TIMEOUT_MS: 500,
      QUEUE_LOCK_MS: 15_000,
      QUEUE_STALLED_MS: 2_000,
      STREAM_KEPT_BYTES: 1024 * 1024,
    });
  });

  it('accept their own examples', () => {
    const examples = Object.entries(queueSettings).map(([name, schema]) => {
      const { description, example } = schema.meta() ?? {};
      expect(description).toMatch(/\.$/);
      return [name, example];
    });
    expect(() => readSettings(queueSettings, Object.fromEntries(examples))).not.toThrow();
  });

  it.each([
    'redis://a:6379',
    'rediss://user:pass@a:6380/1',
    'redis://a:1, redis://b:2',
    'redis+sentinel://:pass@a:26379,b:26379/primary',
  ])('accept %s', (url) => {
    expect(readSettings(queueSettings, { REDIS_URL: url }).REDIS_URL).toBe(url);
  });

  it.each(['a:6379', 'http://a', 'redis://a:1,b:2', 'redis://', 'redis+sentinel://a:26379'])(
    'reject %s',
    (url) => {
      expect(() => readSettings(queueSettings, { REDIS_URL: url })).toThrow(/REDIS_URL: must look like/);
    },
  );

  it.each(['redis://a:99999', 'redis://a:1,redis://:p#w@b:2'])(
    'reject %s, which clients cannot parse',
    (url) => {
      expect(() => readSettings(queueSettings, { REDIS_URL: url })).toThrow('REDIS_URL: must be a valid URL');
    },
  );
});
