import { z } from 'zod';

/** A URL that paths are appended to, without a trailing slash. */
export const baseUrl = () =>
  z
    .url({ protocol: /^https?$/, error: 'expected an http or https URL', abort: true })
    .refine(
      (text) => {
        const { username, search, hash } = new URL(text);
        return username === '' && search === '' && hash === '';
      },
      { error: 'expected a URL without user name, query and fragment' },
    )
    .transform((text) => text.replace(/(?<!\/)\/+$/, ''));
