const token = "[\\w!#$%&'*+.^`|~-]+";
const head = new RegExp(`^[ \\t]*(${token}/${token})[ \\t]*(?:;|$)`);

/**
 * The type and subtype of a `Content-Type` as RFC 9110 reads it: in lower case, without parameters and white space.
 * Empty when the text begins with no media type. Parameters decide nothing here, so broken ones are ignored.
 */
export const essenceOf = (contentType: string | undefined): string =>
  head.exec(contentType ?? '')?.[1]?.toLowerCase() ?? '';

/** Whether a body of this type is one JSON text; `application/json-seq` is not. */
export const isJsonType = (contentType: string | undefined): boolean =>
  /[/+]json$/.test(essenceOf(contentType));
