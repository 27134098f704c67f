import { describe, expect, it } from '@jest/globals';
import { providerList } from '#providers';
import { misnamedFields } from './misnamed-fields.js';
import { type Model, servedBy } from './model.js';
import { modelOfRow } from './testing/model-of-row.js';
import { parsedInput } from './testing/parsed-input.js';

const model = modelOfRow({
  id: 'a/b',
  upstream: { path: 'b' },
  variants: [{ contains: ['/start'], upstream: { path: 'c' } }],
  charges_on_policy_rejection: 'no',
  constants: { model: 'b-1' },
  refused_fields: ['/options/target'],
  price: {
    usd: 0.01,
    times: [{ number: '/num_images' }, { present: ['/parts/*/video_url'] }],
    reported: [{ path: '/n', usd: 1, times: [{ table: '/options/size', values: { a: 1 } }] }],
  },
});
const counted = modelOfRow({
  id: 'a/text',
  upstream: { path: 'b' },
  charges_on_policy_rejection: 'no',
  price: { usd: 0.01, times: [{ tokens: '', max: 1000, unbounded_fields: ['file'] }] },
});
const google = providerList.find(({ name }) => name === 'google');
const ofGoogle = google && servedBy(model, google);

const found = (of: Model | undefined, text: string) =>
  of &&
  misnamedFields(of, parsedInput(text).index).map(({ loc, type }) => `${loc.slice(1).join('.')} ${type}`);

describe('a field that is read', () => {
  it.each([
    '{"num_images":4,"parts":[{"video_url":"u"},{"video_url":"v"}],"options":{"size":"a"}}',
    '{"NUM":1,"options":{"other":1,"other":2},"prompt":"a","prompt":"b"}',
    '{"other":{"num_images":1,"NUM_IMAGES":2}}',
    '{"model":"b-1","model":"b-1"}',
    '{"webhook_url":null}',
  ])('may be given once, spelled as in the row: %s', (text) => expect(found(model, text)).toEqual([]));

  it.each([
    ['{"num_images":4,"num_images":1}', 'num_images value_error'],
    ['{"num_images":4,"num\\u005fimages":1}', 'num_images value_error'],
    ['{"NUM_IMAGES":4}', 'NUM_IMAGES extra_forbidden'],
    ['{"num_images":1,"Num_Images":4}', 'Num_Images value_error'],
    ['{"numImages":1}', undefined],
    ['{"start":null,"start":"u"}', 'start value_error'],
    ['{"parts":[{},{"video_url":"u","video_url":null}]}', 'parts.1.video_url value_error'],
    ['{"parts":[],"parts":[{"video_url":"u"}]}', 'parts value_error'],
    ['{"options":{"Size":"a"}}', 'options.Size extra_forbidden'],
    ['{"options":{"target":null,"target":"u"}}', 'options.target value_error'],
    ['{"options":{"TARGET":"u"}}', 'options.TARGET extra_forbidden'],
    ['{"webhook_url":"u","Webhook_URL":null}', 'Webhook_URL value_error'],
  ])('is rejected in %s', (text, error) => expect(found(model, text)).toEqual(error ? [error] : []));

  it('may not be given twice anywhere in a part that is counted as tokens', () => {
    expect(found(counted, '{"a":[{"b":{"c":1,"c":"long"}}]}')).toEqual(['a.0.b.c value_error']);
    expect(found(counted, '{"a":[{"b":{"c":1,"C":2}}],"A":1}')).toEqual([]);
  });

  it('may have either spelling, but not both, at a provider that accepts both', () => {
    expect(found(ofGoogle, '{"numImages":4,"parts":[{"videoUrl":"u"}]}')).toEqual([]);
    expect(found(ofGoogle, '{"numImages":1,"num_images":4}')).toEqual(['num_images value_error']);
    expect(found(ofGoogle, '{"NumImages":1}')).toEqual(['NumImages extra_forbidden']);
  });

  it('yields at most a hundred errors', () => {
    const twice = Array.from({ length: 200 }, () => '{"video_url":"u","video_url":"u"}');
    expect(found(model, `{"parts":[${twice.join()}]}`)).toHaveLength(100);
  });
});
