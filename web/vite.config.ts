import { defineConfig } from 'vite';

// Built into the Python package, under names that stay the same: the page is served from a path
// with a token in it, so every address in it is relative.
export default defineConfig({
  base: './',
  build: {
    outDir: '../bot/sandbox/web/static',
    emptyOutDir: true,
    modulePreload: false,
    target: 'es2022',
    assetsInlineLimit: 0,
    rollupOptions: {
      output: {
        entryFileNames: 'page.js',
        chunkFileNames: '[name].js',
        assetFileNames: '[name][extname]',
      },
    },
  },
});
