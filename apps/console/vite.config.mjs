import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vite';
import { guidePages } from './guide-pages.mjs';

const here = fileURLToPath(new URL('.', import.meta.url));

/** `npx vite apps/console` serves the sources with reload, and sends API calls to a gateway that runs beside it. */
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
    // The policy allows no `data:` style sheets or scripts, and small files cost little over one connection.
    assetsInlineLimit: 0,
    reportCompressedSize: false,
    // 3D graphics, which are loaded when a 3D model is shown.
    chunkSizeWarningLimit: 700,
    // Libraries mark what runs in browsers only, which here is everything.
    rolldownOptions: { checks: { moduleLevelDirective: false } },
    modulePreload: { polyfill: false },
  },
  server: { proxy: { '/v2': gateway, '/assets': gateway, '/openapi.json': gateway } },
});
