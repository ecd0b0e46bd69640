import { crc32, deflateRawSync, gzipSync } from 'node:zlib';
import type { CheckoutAssets } from '../checkout/assets.ts';
import type { Language } from '../checkout/languages.ts';
import { renderNotice, renderPage } from '../checkout/page.ts';
import type { CheckoutView } from '../core/checkoutView.ts';
import { createIsoTime } from '../core/isoTime.ts';
import { createRecentMap } from '../core/recentMap.ts';

export type NoticeKind = Parameters<typeof renderNotice>[0];

export type CheckoutPages = {
  /** Good for one answer: the next one writes its time over it. */
  page(view: CheckoutView, language: Language): Buffer;
  /** The part that changes with the payment. */
  main(view: CheckoutView, language: Language): Buffer;
  /** Both again, for clients that take gzip. */
  packedPage(view: CheckoutView, language: Language): Buffer;
  packedMain(view: CheckoutView, language: Language): Buffer;
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
type Kept = {
  readonly version: string;
  readonly language: Language;
  readonly bytes: Buffer;
  readonly timeAt: number;
  readonly main: Main;
  /** Once somebody has asked for it: all that stands behind the time, and the part that changes. */
  readonly packedRest: Buffer | null;
  readonly packedMain: Buffer | null;
};
type Main = { readonly from: number; readonly to: number };

const pageBytes = ({ bytes, packedRest, packedMain }: Kept): number =>
  400 + bytes.length + (packedRest?.length ?? 0) + (packedMain?.length ?? 0);
const keptBytes = (_id: string, pages: readonly Kept[]): number =>
  pages.reduce((sum, each) => sum + pageBytes(each), 200);

const placeIn = (bytes: Buffer, mark: string): number => {
  const at = bytes.indexOf(mark);
  if (at < 0) throw new Error('a page lacks what every page has');
  return at;
};

const keep = ({ version }: CheckoutView, language: Language, page: string): Kept => {
  const bytes = Buffer.from(page);
  const main = { from: placeIn(bytes, mainStart), to: placeIn(bytes, mainEnd) + mainEnd.length };
  const timeAt = placeIn(bytes, timeMark) + timeMark.length;
  return { version, language, bytes, timeAt, main, packedRest: null, packedMain: null };
};

const timeLength = '2026-01-01T00:00:00.000Z'.length;
const gzipHead = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255]);

/**
 * The page up to its time in one stored block, then the rest, which is packed once: packing all for each answer would cost
 * more than making the page. It is a copy, since half of an answer with another's checksum could not be unpacked.
 */
const packPage = ({ bytes, timeAt }: Kept, packedRest: Buffer): Buffer => {
  const stored = timeAt + timeLength;
  const block = Buffer.alloc(5);
  block.writeUInt16LE(stored, 1);
  block.writeUInt16LE(stored ^ 0xffff, 3);
  const end = Buffer.alloc(8);
  end.writeUInt32LE(crc32(bytes));
  end.writeUInt32LE(bytes.length, 4);
  return Buffer.concat([gzipHead, block, bytes.subarray(0, stored), packedRest, end]);
};

/** What was packed lies in a larger piece of memory, which would be kept with it. */
const fitted = (bytes: Buffer): Buffer => Buffer.from(bytes);

/** Renders pages, each once for as long as it stays the same. They are kept by payment, one for each language. */
export const createCheckoutPages = (assets: CheckoutAssets, nowMs: () => number): CheckoutPages => {
  const kept = createRecentMap<readonly Kept[]>(maxKeptBytes, keptBytes);
  const isoTime = createIsoTime();
  const notice: CheckoutPages['notice'] = (kind, language) => renderNotice(kind, { language, assets });
  const put = (id: string, page: Kept): Kept => {
    const others = (kept.get(id) ?? []).filter(
      each => each.version === page.version && each.language !== page.language,
    );
    kept.set(id, [...others, page]);
    return page;
  };
  const find = (view: CheckoutView, language: Language): Kept => {
    const known = kept.get(view.id)?.find(each => each.language === language && each.version === view.version);
    return known ?? put(view.id, keep(view, language, renderPage(view, { language, nowMs: nowMs(), assets })));
  };
  const findNow = (view: CheckoutView, language: Language): Kept => {
    const found = find(view, language);
    found.bytes.write(isoTime(nowMs()), found.timeAt, 'latin1');
    return found;
  };
  const mainOf = ({ bytes, main }: Kept): Buffer => bytes.subarray(main.from, main.to);
  return {
    page: (view, language) => findNow(view, language).bytes,
    main: (view, language) => mainOf(find(view, language)),
    packedPage(view, language) {
      const found = findNow(view, language);
      if (found.packedRest) return packPage(found, found.packedRest);
      const packedRest = fitted(deflateRawSync(found.bytes.subarray(found.timeAt + timeLength)));
      put(view.id, { ...found, packedRest });
      return packPage(found, packedRest);
    },
    packedMain(view, language) {
      const found = find(view, language);
      if (found.packedMain) return found.packedMain;
      const packedMain = fitted(gzipSync(mainOf(found)));
      put(view.id, { ...found, packedMain });
      return packedMain;
    },
    notice,
    noticeMain: (kind, language) => /<main[\s\S]*<\/main>/.exec(notice(kind, language))![0],
  };
};
