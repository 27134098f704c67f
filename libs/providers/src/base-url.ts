import { z } from 'zod';

/** A URL that paths are appended to, without a trailing slash. */
export const baseUrl = () =>
  z
    .url({ protocol: /^https?$/, error: 'must look like https://host/path', abort: true })
    .refine(
      (text) => {
        const { username, search, hash } = new URL(text);
        return username === '' && search === '' && hash === '';
      },
      { error: 'must not contain a user name, query or fragment' },
    )
    .transform((text) => text.replace(/(?<!\/)\/+$/, ''));
