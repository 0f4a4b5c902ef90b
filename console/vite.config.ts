// The build of the console: static files that work below any path, without inline scripts or styles, the same bytes
// from the same sources.
import { svelte } from '@sveltejs/vite-plugin-svelte';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  base: './',
  plugins: [svelte({ emitCss: true, compilerOptions: { css: 'external' } })],
  build: {
    target: 'es2022',
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    sourcemap: false,
  },
  test: { include: ['tests/**/*.test.ts'], environment: 'node' },
});
