import { createHash } from 'node:crypto';
import { build, type Metafile } from 'esbuild';
import { sameEverywhere, small } from '../bundling.ts';

const entry = 'web/dashboard/main.tsx';
const earlyScript = 'web/dashboard/earlyTheme.ts';
/** The URL path of the assets. */
const publicFolder = '/dashboard/assets/';

/** `files` are by path in the output folder: `index.html`, and `assets/…` with a content hash in the name. */
export type Bundle = { readonly files: ReadonlyMap<string, Uint8Array>; readonly metafile: Metafile };

const iconOf = (svg: string): string => `data:image/svg+xml,${encodeURIComponent(svg)}`;
const icon = iconOf(
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="8" fill="#3b4cca"/><path d="M11 24V8h11M11 16h8" fill="none" stroke="#fff" stroke-width="3.5"/></svg>',
);

/** The entry and all its static imports, which load before anything is shown. */
export const initialScripts = ({ outputs }: Metafile): string[] => {
  const first = Object.keys(outputs).find(path => outputs[path]!.entryPoint === entry)!;
  const found = new Set<string>();
  const visit = (path: string): void => {
    if (found.has(path)) return;
    found.add(path);
    for (const { path: next, kind } of outputs[path]!.imports) if (kind === 'import-statement') visit(next);
  };
  visit(first);
  return [...found].map(path => path.slice(path.lastIndexOf('/') + 1));
};

const page = (early: string, scripts: readonly string[], style: string): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<meta name="color-scheme" content="light dark">
<title>Florin</title>
<link rel="icon" href="${icon}">
<script src="${publicFolder}${early}"></script>
<link rel="stylesheet" href="${publicFolder}${style}">
<script type="module" src="${publicFolder}${scripts[0]}"></script>
${scripts
  .slice(1)
  .map(name => `<link rel="modulepreload" href="${publicFolder}${name}">\n`)
  .join('')}</head>
<body>
<div id="app"></div>
<noscript>The dashboard needs JavaScript.</noscript>
</body>
</html>
`;

export const buildDashboard = async (): Promise<Bundle> => {
  const app = await build({
    ...sameEverywhere,
    ...small,
    entryPoints: [entry],
    outdir: 'web/dashboard/built/assets',
    bundle: true,
    splitting: true,
    format: 'esm',
    jsx: 'automatic',
    metafile: true,
    define: { 'process.env.NODE_ENV': '"production"' },
    entryNames: '[name]-[hash]',
    chunkNames: '[name]-[hash]',
  });
  const early = await build({ ...sameEverywhere, ...small, entryPoints: [earlyScript], bundle: true, format: 'iife' });
  const earlyBytes = early.outputFiles[0]!.contents;
  const earlyName = `earlyTheme-${createHash('sha256').update(earlyBytes).digest('hex').slice(0, 8)}.js`;
  const files = new Map(
    app.outputFiles.map(({ path, contents }) => [`assets/${path.slice(path.lastIndexOf('/') + 1)}`, contents]),
  );
  files.set(`assets/${earlyName}`, earlyBytes);
  const style = [...files.keys()].find(name => name.endsWith('.css'))!.slice('assets/'.length);
  const html = page(earlyName, initialScripts(app.metafile), style);
  files.set('index.html', new TextEncoder().encode(html));
  return { files, metafile: app.metafile };
};
