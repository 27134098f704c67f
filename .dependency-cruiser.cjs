// Import directions: errors <- schemas, observability <- persistence, queue, storage, providers <- catalog,
// infrastructure <- apps. scripts/check-layers.mjs finds cycles between the folders of an app.
const levelTwo = ['persistence', 'queue', 'storage', 'providers'];
const lib = (...names) => `^libs/(${names.join('|')})/`;
const anyLib = '^libs/';
const anyApp = '^apps/';

const forbidden = [
  { name: 'no-cycle', severity: 'error', from: {}, to: { circular: true } },
  {
    name: 'unresolvable',
    comment: 'The tests’ set-up starts built files, which may not exist yet.',
    severity: 'error',
    from: {},
    to: { couldNotResolve: true, pathNot: '(^|/)dist/' },
  },
  {
    name: 'errors-imports-nothing',
    severity: 'error',
    from: { path: lib('errors') },
    to: { path: [anyLib, anyApp], pathNot: lib('errors') },
  },
  {
    name: 'schemas-and-observability-import-errors-only',
    severity: 'error',
    from: { path: '^libs/(schemas|observability)/' },
    to: { path: [anyLib, anyApp], pathNot: ['^libs/$1/', lib('errors')] },
  },
  {
    name: 'level-two-libraries-never-import-each-other',
    severity: 'error',
    from: { path: `^libs/(${levelTwo.join('|')})/` },
    to: { path: [anyLib, anyApp], pathNot: ['^libs/$1/', lib('errors', 'schemas', 'observability')] },
  },
  {
    name: 'catalog-imports-providers-and-below',
    severity: 'error',
    from: { path: lib('catalog') },
    to: {
      path: [anyLib, anyApp],
      pathNot: lib('catalog', 'providers', 'errors', 'schemas', 'observability'),
    },
  },
  {
    name: 'infrastructure-imports-configured-libraries-and-below',
    severity: 'error',
    from: { path: lib('infrastructure') },
    to: {
      path: [anyLib, anyApp],
      pathNot: lib('infrastructure', 'persistence', 'queue', 'storage', 'observability', 'schemas', 'errors'),
    },
  },
  {
    name: 'apps-never-import-each-other',
    severity: 'error',
    from: { path: '^apps/([^/]+)/' },
    to: { path: anyApp, pathNot: '^apps/$1/' },
  },
  {
    name: 'simulator-knows-no-adapter',
    comment:
      'A simulator that shares code with the adapters agrees with them by construction, mistakes included.',
    severity: 'error',
    from: { path: '^apps/simulator/' },
    to: { path: lib('providers', 'catalog') },
  },
  {
    name: 'one-provider-never-imports-another',
    severity: 'error',
    from: { path: '^libs/providers/src/providers/([^/]+)/' },
    to: { path: '^libs/providers/src/providers/[^/]+/', pathNot: '^libs/providers/src/providers/$1/' },
  },
  {
    name: 'one-door-a-library',
    comment: 'Other libraries and apps import only index.ts.',
    severity: 'error',
    from: { path: ['^libs/([^/]+)/', '^apps/([^/]+)/'] },
    to: { path: '^libs/[^/]+/src/', pathNot: ['^libs/[^/]+/src/index\\.ts$', '^libs/$1/'] },
  },
  {
    name: 'only-persistence-knows-sql',
    severity: 'error',
    from: { pathNot: [lib('persistence'), lib('queue'), '^apps/local/', '^test/'] },
    to: { path: 'node_modules/(typeorm|@nestjs/typeorm|pg)/' },
  },
  {
    name: 'only-queue-knows-bullmq-and-redis',
    severity: 'error',
    from: { pathNot: [lib('queue'), '^test/'] },
    to: { path: 'node_modules/(bullmq|ioredis)/' },
  },
  {
    name: 'only-storage-knows-s3',
    severity: 'error',
    from: { pathNot: [lib('storage'), '^test/'] },
    to: { path: 'node_modules/@aws-sdk/' },
  },
  {
    name: 'plain-libraries-know-no-nest',
    severity: 'error',
    from: { path: lib('errors', 'schemas', 'providers', 'catalog') },
    to: { path: 'node_modules/@nestjs/' },
  },
  {
    name: 'the-client-stands-alone',
    comment:
      'The client is a separate package without dependencies, for Node and browsers. The ai SDK gives it types only.',
    severity: 'error',
    from: { path: '^libs/client/src/', pathNot: '\\.spec\\.ts$' },
    to: { path: '.', pathNot: [lib('client'), 'node_modules/@ai-sdk/provider/dist/index\\.d\\.ts$'] },
  },
  {
    name: 'no-product-code-knows-the-client',
    severity: 'error',
    from: { path: ['^libs/(?!client/)', anyApp] },
    to: { path: lib('client') },
  },
  {
    name: 'the-console-knows-the-http-interface-only',
    comment: 'The console gets everything from /openapi.json, like every other caller.',
    severity: 'error',
    from: { path: '^apps/console/' },
    to: { path: ['^libs/', '^#'] },
  },
  {
    name: 'production-code-imports-no-test',
    severity: 'error',
    from: { path: '^(apps|libs)/', pathNot: ['\\.spec\\.ts$', '/testing/'] },
    to: { path: ['^test/', '\\.spec\\.ts$', '/testing/'] },
  },
];

module.exports = {
  forbidden,
  options: {
    doNotFollow: { path: 'node_modules' },
    tsConfig: { fileName: 'tsconfig.json' },
    tsPreCompilationDeps: true,
    exclude: { path: '^dist/' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['source', 'import', 'node', 'default', 'types'],
      extensions: ['.ts', '.tsx', '.js', '.mjs', '.cjs', '.json'],
    },
  },
};
