/**
 * Scripts, styles and fonts are files of this origin. Media, and results that are read to be shown, may come from where
 * assets are kept, and from nowhere else.
 */
export function contentSecurityPolicy(assetOrigin = ''): string {
  const media = ['blob:', 'data:', assetOrigin].join(' ').trim();
  return [
    `default-src 'none'`,
    `script-src 'self'`,
    `style-src 'self'`,
    `font-src 'self'`,
    `img-src 'self' ${media}`,
    `media-src 'self' ${media}`,
    // The textures of a 3D model are read from its file.
    `connect-src 'self' blob: ${assetOrigin}`.trim(),
    `base-uri 'none'`,
    `form-action 'none'`,
    `frame-ancestors 'none'`,
  ].join('; ');
}
