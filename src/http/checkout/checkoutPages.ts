import { gzipSync } from 'node:zlib';
import type { CheckoutAssets } from '../../checkout/assets.ts';
import type { Language } from '../../checkout/languages.ts';
import { renderMain, renderNotice, renderPage } from '../../checkout/page.ts';
import type { CheckoutView } from '../../core/checkoutView.ts';
import { createRecentMap } from '../../core/recentMap.ts';

export type NoticeKind = Parameters<typeof renderNotice>[0];

type Show = (view: CheckoutView, language: Language) => Buffer;

export type CheckoutPages = {
  readonly page: Show;
  /** The part of the page that changes with the payment. */
  readonly main: Show;
  /** The page and its main part, compressed with gzip. */
  readonly packedPage: Show;
  readonly packedMain: Show;
  notice(kind: NoticeKind, language: Language): string;
  noticeMain(kind: NoticeKind, language: Language): string;
};

type Kept = { readonly version: string; readonly bytes: Buffer };

const maxKeptBytes = 16 * 1024 * 1024;
/** Includes an estimate for the map entry and the objects. */
const keptBytes = (key: string, { bytes }: Kept): number => 400 + key.length + bytes.length;

/** Copies the result: zlib returns a slice of a larger buffer, which would stay in memory. */
const pack = (text: string): Buffer => Buffer.from(gzipSync(text));

/** Renders and compresses each page once per version and language. */
export const createCheckoutPages = (assets: CheckoutAssets, nowMs: () => number): CheckoutPages => {
  const kept = createRecentMap<Kept>(maxKeptBytes, keptBytes);
  const keeping =
    (kind: string, make: Show): Show =>
    (view, language) => {
      const key = `${kind} ${language.tag} ${view.id}`;
      const known = kept.get(key);
      if (known?.version === view.version) return known.bytes;
      const bytes = make(view, language);
      kept.set(key, { version: view.version, bytes });
      return bytes;
    };
  const pageText = (view: CheckoutView, language: Language): string =>
    renderPage(view, { language, nowMs: nowMs(), assets });
  const mainText = (view: CheckoutView, language: Language): string => renderMain(view, { language, nowMs: nowMs() });
  const notice: CheckoutPages['notice'] = (kind, language) => renderNotice(kind, { language, assets });
  return {
    page: keeping('page', (view, language) => Buffer.from(pageText(view, language))),
    main: keeping('main', (view, language) => Buffer.from(mainText(view, language))),
    packedPage: keeping('packed page', (view, language) => pack(pageText(view, language))),
    packedMain: keeping('packed main', (view, language) => pack(mainText(view, language))),
    notice,
    noticeMain: (kind, language) => /<main[\s\S]*<\/main>/.exec(notice(kind, language))![0],
  };
};
