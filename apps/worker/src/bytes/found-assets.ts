import { type JsonPlace, placesOf, replaceStrings, stringAt } from '#schemas';

/** A URL in a provider's output, where it stands there. */
export interface FoundAsset extends JsonPlace {
  url: string;
}

const maxUrlLength = 8192;
const quote = '"'.charCodeAt(0);

/** The asset URLs that the model's pointers reach. Text that is no web address stays what it is: inline data, a bucket's name. */
export function findAssets(output: Uint8Array, pointers: readonly string[]): FoundAsset[] {
  return placesOf(output, pointers)
    .filter(({ start, end }) => output[start] === quote && end - start <= maxUrlLength)
    .map((place) => ({ ...place, url: stringAt(output, place) }))
    .filter(({ url }) => /^https?:/i.test(url) && URL.canParse(url));
}

/** The output with the copies' URLs in the place of the provider's, and every other byte as it was. */
export const withCopies = (
  output: Uint8Array,
  assets: readonly FoundAsset[],
  copies: ReadonlyMap<string, { url: string }>,
): Buffer =>
  replaceStrings(
    output,
    assets.flatMap((asset) => {
      const copy = copies.get(asset.url);
      return copy === undefined ? [] : [{ ...asset, text: copy.url }];
    }),
  );
