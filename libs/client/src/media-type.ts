const token = "[\\w!#$%&'*+.^`|~-]+";
const head = new RegExp(`^[ \\t]*(${token}/${token})[ \\t]*(?:;|$)`);

/** The media type that a `Content-Type` names, in lower case and without parameters; empty when it names none. */
export const mediaTypeOf = (contentType: string | null): string =>
  head.exec(contentType ?? '')?.[1]?.toLowerCase() ?? '';

export const isJson = (contentType: string | null): boolean => /[/+]json$/.test(mediaTypeOf(contentType));
