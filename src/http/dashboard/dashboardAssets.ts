import { readdirSync, readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import type { FastifyRequest } from 'fastify';
import { FlorinError } from '../../core/errors.ts';
import type { Reply } from '../edge/route.ts';

const folder = new URL('../../../web/dashboard/built/', import.meta.url);

const contentTypes: Readonly<Record<string, string>> = {
  css: 'text/css; charset=utf-8',
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  svg: 'image/svg+xml; charset=utf-8',
  png: 'image/png',
  woff2: 'font/woff2',
};

const gzipWish = /(?:^|[\s,])gzip(?!\s*;\s*q=0(?:\.0*)?\s*(?:,|$))/i;

type File = { readonly contentType: string; readonly body: Buffer; readonly packed: () => Buffer };

/** Compressed at the first request: all files together would add 30 ms to each start. */
const readFile = (name: string): File => {
  const body = readFileSync(new URL(name, folder));
  const contentType = contentTypes[name.slice(name.lastIndexOf('.') + 1)] ?? 'application/octet-stream';
  let packedBody: Buffer | null = null;
  const packed = () => {
    packedBody ??= gzipSync(body, { level: 9 });
    return packedBody;
  };
  return { contentType, body, packed };
};

const forEver = 'public, max-age=31536000, immutable';

/** The page of the app and its files. They are read once, at start. */
export const loadDashboardAssets = () => {
  const assets = readdirSync(new URL('assets/', folder));
  const files = new Map(assets.map(name => [name, readFile(`assets/${name}`)]));
  const page = readFile('index.html');

  const serve = (file: File, request: FastifyRequest, headers: Readonly<Record<string, string>>): Reply => {
    const { contentType, body, packed } = file;
    const all = { ...headers, vary: 'Accept-Encoding' };
    if (!gzipWish.test(String(request.headers['accept-encoding'] ?? ''))) return { body, contentType, headers: all };
    return { body: packed(), contentType, headers: { ...all, 'content-encoding': 'gzip' } };
  };

  return {
    /** Every URL of the app gets the same page. The app itself selects the view. */
    page: (request: FastifyRequest): Reply => serve(page, request, {}),
    /** File names change with their contents, so browsers cache them for a year. */
    asset(request: FastifyRequest, name: string): Reply {
      const file = files.get(name);
      if (!file) throw new FlorinError('not_found', 'There is no such file.');
      return serve(file, request, { 'cache-control': forEver });
    },
  };
};
