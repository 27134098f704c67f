const token = "[\\w!#$%&'*+.^`|~-]+";
const head = new RegExp(`^[ \\t]*(${token}/${token})[ \\t]*(?:;|$)`);

/** The media type in a `Content-Type`, in lower case and without parameters; empty if there is none. */
export const mediaTypeOf = (contentType: string | null): string =>
  head.exec(contentType ?? '')?.[1]?.toLowerCase() ?? '';

export const isJson = (contentType: string | null): boolean => /[/+]json$/.test(mediaTypeOf(contentType));
