import type { CheckoutAssets } from '../checkout/assets.ts';
import type { Language } from '../checkout/languages.ts';
import { renderNotice, renderPage } from '../checkout/page.ts';
import type { CheckoutView } from '../core/checkoutView.ts';
import { createRecentMap } from '../core/recentMap.ts';

export type NoticeKind = Parameters<typeof renderNotice>[0];

export type CheckoutPages = {
  /** Good for one answer: the next one writes its time over it. */
  page(view: CheckoutView, language: Language): Buffer;
  /** The part that changes with the payment. */
  main(view: CheckoutView, language: Language): Buffer;
  notice(kind: NoticeKind, language: Language): string;
  noticeMain(kind: NoticeKind, language: Language): string;
};

const maxKeptBytes = 16 * 1024 * 1024;
const timeMark = ' data-now="';
const [mainStart, mainEnd] = ['<main ', '</main>'];

/**
 * A rendered page, and where in it the time stands. That is written over at each answer, in the bytes that are kept: a copy
 * for each answer cost more than all the rest of it. An answer still on its way may tell a later time by that, but no
 * other.
 */
type Kept = { readonly version: string; readonly bytes: Buffer; readonly timeAt: number; readonly main: Main };
type Main = { readonly from: number; readonly to: number };

const keptBytes = (key: string, { bytes }: Kept): number => 400 + 2 * key.length + bytes.length;

const placeIn = (bytes: Buffer, mark: string): number => {
  const at = bytes.indexOf(mark);
  if (at < 0) throw new Error('a page lacks what every page has');
  return at;
};

const keep = (version: string, page: string): Kept => {
  const bytes = Buffer.from(page);
  const main = { from: placeIn(bytes, mainStart), to: placeIn(bytes, mainEnd) + mainEnd.length };
  return { version, bytes, timeAt: placeIn(bytes, timeMark) + timeMark.length, main };
};

/** Renders pages, each once for as long as it stays the same. */
export const createCheckoutPages = (assets: CheckoutAssets, nowMs: () => number): CheckoutPages => {
  const kept = createRecentMap<Kept>(maxKeptBytes, keptBytes);
  const notice: CheckoutPages['notice'] = (kind, language) => renderNotice(kind, { language, assets });
  const find = (view: CheckoutView, language: Language): Kept => {
    const key = `${view.id} ${language.tag}`;
    const known = kept.get(key);
    if (known?.version === view.version) return known;
    const made = keep(view.version, renderPage(view, { language, nowMs: nowMs(), assets }));
    kept.set(key, made);
    return made;
  };
  return {
    page(view, language) {
      const { bytes, timeAt } = find(view, language);
      bytes.write(new Date(nowMs()).toISOString(), timeAt, 'latin1');
      return bytes;
    },
    main(view, language) {
      const { bytes, main } = find(view, language);
      return bytes.subarray(main.from, main.to);
    },
    notice,
    noticeMain: (kind, language) => /<main[\s\S]*<\/main>/.exec(notice(kind, language))![0],
  };
};
