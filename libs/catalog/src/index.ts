export { type Catalog, catalogOf, serversOf } from './catalog.js';
export { catalogCheckSettings, catalogSchemas, checkCatalog, checkRow } from './check-catalog.js';
export {
  type CallQuery,
  checkInput,
  inputErrors,
  type MeasuredRows,
  type ParsedInput,
  type ServerTerms,
} from './check-input.js';
export { type CursorContext, openCursor, sealCursor } from './cursor.js';
export { mayMatch } from './entitlement.js';
export { type Documents, intake } from './intake/intake.js';
export type { JsonSchema } from './json-schema.js';
export { builtInDirectories, loadCatalog } from './load-catalog.js';
export { modelAlias } from './model-row.js';
export { type Model, nextPrice, oncePerModel, oncePerSchema, pricedAt, visibleProvider } from './model.js';
export {
  detail,
  type DocumentFrame,
  entry,
  fullEntry,
  type Generation,
  type ModelDocument,
  openApiDocument,
} from './model-views.js';
export type { CatalogProblem } from './read-rows.js';
export { didYouMean, suggesting } from './nearest-ids.js';
export { modelType, withModelTypes } from './model-types.js';
export { tokenCounter } from './model.js';
export { priceDigest } from './price-digest.js';
export { type Quote, quote } from './quote.js';
export { atOrigin, sampleUrl } from './samples.js';
export { priceText, reportedText } from './price-text.js';
export { type CatalogSettings, catalogSettings, LiveCatalog } from './live-catalog.js';
