import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vite';
import { guidePages } from './guide-pages.mjs';

const here = fileURLToPath(new URL('.', import.meta.url));

/** `npx vite apps/console` serves the sources with live reload and proxies API calls to a gateway running locally. */
const gateway = process.env['CONSOLE_GATEWAY_URL'] ?? 'http://127.0.0.1:8080';

export default defineConfig({
  root: here,
  base: '/console/',
  plugins: [guidePages()],
  build: {
    outDir: fileURLToPath(new URL('../../dist/apps/console', import.meta.url)),
    emptyOutDir: true,
    target: 'es2023',
    assetsDir: 'assets',
    // For THIRD-PARTY-NOTICES. The gateway does not serve it.
    license: { fileName: 'licenses.json' },
    // The content security policy forbids `data:` style sheets and scripts, and small files are cheap on one connection.
    assetsInlineLimit: 0,
    reportCompressedSize: false,
    // Leaves room for the 3D library, which loads only when a 3D model is shown.
    chunkSizeWarningLimit: 700,
    // Libraries mark browser-only modules with directives, which mean nothing here.
    rolldownOptions: { checks: { moduleLevelDirective: false } },
    modulePreload: { polyfill: false },
  },
  server: { proxy: { '/v2': gateway, '/assets': gateway, '/openapi.json': gateway } },
});
