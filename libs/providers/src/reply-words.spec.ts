import { describe, expect, it } from '@jest/globals';

import { providerList } from './providers.js';
import { fixtureFolders, openFixtures, replyOf } from './testing/fixtures.js';
import { providerOf } from './testing/provider-of.js';

/** Each protocol of each provider. */
const protocols = new Map(
  providerList.map((definition) => [
    definition.name,
    fixtureFolders(definition.name).map((folder) => {
      const { run, settings = {} } = openFixtures(folder).facts;
      return { adapter: definition.create(definition.defaultBase, settings), run };
    }),
  ]),
);

/** The meaning of a rejected submission for each protocol of a provider, as class and retry. */
const meanings = (name: string, status: number, body: unknown): string[] =>
  (protocols.get(name) ?? []).map(({ adapter, run }) => {
    const outcome = adapter.onSubmit(run, replyOf(status, JSON.stringify(body)));
    return outcome.kind === 'failed' ? `${outcome.failure.class}, ${outcome.failure.retry}` : outcome.kind;
  });

const account = 'provider_account, never';
const content = 'content_policy, never';
const load = 'provider_unavailable, new_submit';

/** Where providers put their sentences. */
const shapes: ((text: string) => unknown)[] = [
  (text) => text,
  (error) => ({ error }),
  (message) => ({ error: { message } }),
  (detail) => ({ detail }),
  (message) => ({ problem: { message } }),
];

describe.each(providerList)('$name', ({ name }) => {
  const means = (status: number, text: string) =>
    new Set(shapes.flatMap((shape) => meanings(name, status, shape(text))));

  it.each([
    [403, 'Content violates usage guidelines. API key ID: 7, Failed check: SAFETY_CHECK_TYPE_BIO'],
    [403, 'The prompt was flagged by our moderation system.'],
    [403, 'content_policy_violation'],
    [401, 'This request violates our content policy.'],
    [402, 'NSFW content is not allowed.'],
    [429, 'The image was moderated.'],
  ])('reads HTTP %i with “%s” as a refusal of content', (status, text) => {
    expect(means(status, text)).toEqual(new Set([content]));
  });

  it.each([
    [403, 'Your account was suspended after repeated content policy violations.'],
    [403, 'The organization has been disabled because its usage violates our usage policies.'],
    [429, 'You have reached your daily task limit for this model.'],
    [429, 'You have reached the limit of 50 generations per day.'],
    [429, 'The monthly spending limit is reached.'],
    [429, 'Monthly quota exceeded'],
    [429, 'Quota exceeded for metric: GenerateRequestsPerDayPerProjectPerModel, limit: 0'],
    [
      429,
      'Your team 16f2151a has either used all available credits or reached its monthly spending limit. To continue making API requests, please purchase more credits or raise your spending limit.',
    ],
    [400, 'Insufficient compute balance'],
    [400, 'Your credit balance is too low.'],
    [400, 'Billing is disabled for this project.'],
    [400, 'The request failed because your account has an overdue balance.'],
    [400, 'Operation is denied because your account balance is overdue.'],
    [
      400,
      'You have reached your specified workspace API usage limits. You will regain access on 2026-06-01.',
    ],
    [400, "Your newly created team doesn't have any credits or licenses yet."],
    [429, 'Your account has exhausted its free trial quota for the model.'],
    [422, 'Out of credits'],
    [405, 'Payment required'],
  ])('reads HTTP %i with “%s” as a problem with our account', (status, text) => {
    expect(means(status, text)).toEqual(new Set([account]));
  });

  const permissions = [
    'Your organization must be verified to stream this model. Please go to: https://platform.openai.com/settings/organization/general and click on Verify Organization.',
    'Please verify your identity to use this model.',
    'Business verification is needed for this model.',
    'This model is not available on your current plan.',
    'This feature is only available to Enterprise plans.',
    'Your plan does not include this model.',
    'This voice requires a Creator subscription or above.',
    'Please upgrade your plan to use this resolution.',
    'The project you are using does not have access to this model.',
    'Your team is not authorized to use this model.',
    'Your account is restricted.',
    'This API key has expired.',
    'Please subscribe to higher plan to generate higher resolution videos',
    'Free users cannot use library voices via the API.',
    'Dubbing without a watermark is only available for Creator+ users.',
    'Country, region, or territory not supported',
    'User location is not supported for the API use.',
    'your current token plan not support model, MiniMax-M2.7-highspeed',
    'Real-name authentication is required.',
    'There is an issue with your account status.',
    'Please make sure your account is in good standing.',
    'You do not have access to this model.',
    'Access to model denied. Please make sure you are eligible for using the model.',
    'Workspace access denied.',
    'The model service is not activated.',
    'The model has not been purchased.',
    'Accept the terms of service before using this model.',
    'You must agree to the model terms first.',
    'This API key is missing the permission to use text to speech.',
    'This credential is only authorized for use with Claude Code and cannot be used for other API requests.',
    'Trial accounts cannot use this model.',
    'Please top up your account.',
    'Purchase more credits to continue.',
    'Please add a valid payment method.',
    'Please check your plan and billing details.',
  ];

  it.each(permissions)('reads “%s” as a problem with our account, whatever field it names', (text) => {
    for (const status of [400, 403, 422]) expect(means(status, text)).toEqual(new Set([account]));
    for (const field of [
      { error: { message: text, type: 'invalid_request_error', param: 'stream', code: 'unsupported_value' } },
      { detail: [{ loc: ['body', 'stream'], msg: text, type: 'value_error' }] },
      { errors: [{ field: 'stream', message: text }] },
    ])
      for (const status of [400, 422])
        expect(new Set(meanings(name, status, field))).toEqual(new Set([account]));
  });

  it.each([
    'The requested resolution is not supported for this model.',
    'Only 720p is allowed with this duration.',
    'stream must be a boolean.',
    'The plan of the scene must not be empty.',
    'The key of this object is not a string.',
    'image_url: the account of the author is not part of the URL',
    'Identity of the speaker is unknown.',
    'The tool call id is required in the message that follows.',
    'You do not have access to the file at image_url.',
    'You do not have access to the model file.',
    'There is no access to the model at this URL.',
    'The server has no access to the image at this URL.',
    'image_url: access denied (403)',
    'Upgrade the resolution: 20 seconds are not supported.',
    'Upgrade the prompt: the plan of the house is missing.',
    'The plan of the camera does not fit the duration.',
    'The voice is not verified.',
    'Verification of the face in the image failed.',
    'The search terms are not accepted.',
    'This field does not accept terms of more than three words.',
    'Key frames exceed the limit of 4.',
    'The usage of this parameter is limited to 3 values.',
    'The audio track is not activated.',
    'The color balance has no method of this name.',
    'The image of a credit card was not found.',
  ])('does not read “%s” as a problem with our account', (text) => {
    for (const status of [400, 422])
      expect(meanings(name, status, { error: { message: text } })).not.toContain(account);
  });

  it.each([
    'Too many requests',
    'Rate limit reached. Upgrade your plan to raise it.',
    'Your account has too many requests in progress and cannot start another one.',
    '5 images/min, whatever the monthly limit',
    'Rate limit exceeded. Add credits to raise it.',
    'Rate limit exceeded. Purchase credits or top up your balance to raise it.',
    'You exceeded your current quota, please check your plan and billing details.',
    'RESOURCE_EXHAUSTED',
    'Resource has been exhausted (e.g. check quota).',
    'Quota exceeded for aiplatform.googleapis.com/generate_content_requests_per_minute, limit: 60',
    'Quota exceeded for metric: x, limit: 20. Please retry in 34.4s.',
    'Concurrency limit of your monthly plan is reached',
    'The limit on images per second is reached.',
  ])('reads HTTP 429 with “%s” as load', (text) => {
    expect(means(429, text)).toEqual(new Set([load]));
  });

  it.each([400, 422])('ignores the words of an input that HTTP %i repeats', (status) => {
    const detail = [
      { loc: ['body', 'Out of credits'], msg: 'Too long', input: 'Our monthly spending limit', type: 'x' },
    ];
    expect(meanings(name, status, { detail })).not.toContain(account);
    for (const message of [
      'prompt: "Our monthly spending limit is reached" is too long',
      "prompt 'we are out of credits' is too long",
      'prompt: “Upgrade your plan and purchase credits” is too long',
      "prompt 'your account must be verified' is too long",
      'The white balance is too low',
    ])
      expect([message, ...meanings(name, status, { error: { message } })]).not.toContain(account);
  });
});

describe('a report on our account', () => {
  it.each<[string, number, unknown]>([
    ['google', 429, { error: { details: [{ violations: [{ quotaId: 'RequestsPerDayPerProject' }] }] } }],
  ])('of %s with HTTP %i: %j', (name, status, body) => {
    expect(new Set(meanings(name, status, body))).toEqual(new Set([account]));
  });

  it('does not end a run if a poll is rejected', () => {
    const definition = providerOf('krea');
    const adapter = definition.create(definition.defaultBase, {});
    const reply = replyOf(400, '{"error":"Insufficient compute balance"}');
    expect(adapter.onResume?.({ v: 1, step: 'poll', id: '7' }, reply)).toMatchObject({
      failure: { class: 'provider_account', retry: 'same_call' },
    });
  });

  it('is read in linear time', () => {
    const texts = ['limit', 'credits', 'monthly', 'content '].map((word) => `${word} `.repeat(200_000));
    for (const text of texts) expect(meanings('krea', 429, { error: text })).toEqual([load]);
  });
});
