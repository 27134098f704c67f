import { isSigned, signatureOf } from '#schemas';

/** The token of a link: the id of the share and its signature. */
export const tokenOf = (shareId: string, secrets: readonly string[]): string =>
  `${shareId.replaceAll('-', '')}${signatureOf(signedText(shareId), secrets)}`;

/** The id of the share. Null for a token that this service did not make, which costs no look at the database. */
export function shareIdOf(token: string, secrets: readonly string[]): string | null {
  const [, a, b, c, d, e, signature] =
    /^([0-9a-f]{8})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{12})([\w-]{43})$/.exec(token) ?? [];
  if (signature === undefined) return null;
  const shareId = [a, b, c, d, e].join('-');
  return isSigned(signedText(shareId), signature, secrets) ? shareId : null;
}

const signedText = (shareId: string): string => `shared-run\n${shareId}`;
