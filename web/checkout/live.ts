import { all, announce, one, root } from './page.ts';
import { showCopyButtons, showLocalTimes, showPrintButtons, startCountdown, startRedirect } from './parts.ts';
import { showWallets } from './wallet.ts';
import { makeCodeToggle, makeTabs } from './ways.ts';

/** How often a page asks that has no stream, and how long it waits at most between two tries that failed. */
const [pollMs, longestPauseMs] = [2_000, 10_000];
const answerTimeoutMs = 10_000;
/** A stream that says nothing at first is held up on its way, by a proxy that collects answers before it passes them on. */
const firstWordMs = 6_000;
/** A page that had to poll tries a stream again after this time. */
const streamAgainMs = 60_000;
const restAfterMs = 60_000;
/** A stream that has beats, one every 15 s, and misses two is gone, though nobody has told its browser. */
const silentMs = 40_000;

const live = {
  source: null as EventSource | null,
  firstWord: undefined as ReturnType<typeof setTimeout> | undefined,
  polling: undefined as ReturnType<typeof setTimeout> | undefined,
  streamAgain: undefined as ReturnType<typeof setTimeout> | undefined,
  failures: 0,
  silence: undefined as ReturnType<typeof setTimeout> | undefined,
  hasBeats: false,
  resting: undefined as ReturnType<typeof setTimeout> | undefined,
  isResting: false,
  isOver: false,
};

const addressOf = (what: string): string => `${document.body.dataset.id}/${what}?lang=${encodeURIComponent(root.lang)}`;

const showConnection = (): void => {
  const place = one('#connection');
  if (!place) return;
  if (live.isOver) live.failures = 0;
  const sentence = navigator.onLine ? (live.failures > 1 ? place.dataset.slow : undefined) : place.dataset.offline;
  if ((sentence ?? '') !== place.textContent) place.textContent = sentence ?? '';
  place.hidden = !sentence;
};

const noteAnswer = (isGood: boolean): void => {
  live.failures = isGood ? 0 : live.failures + 1;
  showConnection();
};

/** By what the same element is found in new markup, in the order in which it is tried. */
const marks = ['id', 'name', 'data-copy', 'aria-label', 'data-print', 'data-stay', 'data-uri', 'href'];

const selectorsOf = (element: HTMLElement): string[] => {
  const attribute = (name: string): string => `[${name}="${CSS.escape(element.getAttribute(name) ?? '')}"]`;
  const tag = element.localName;
  const value = element.hasAttribute('value') ? attribute('value') : '';
  const found = marks.filter(name => element.hasAttribute(name)).map(name => tag + attribute(name) + value);
  return tag === 'h1' || tag === 'summary' ? [...found, tag] : found;
};

const isVisible = (element: HTMLElement): boolean => element.getClientRects().length > 0;

/** Whoever was in the old part is in the same place of the new one, or at its heading where that is gone. */
const moveFocus = (selectors: readonly string[], main: HTMLElement): void => {
  const same = selectors.map(selector => one(selector, main)).find(element => element && isVisible(element));
  if (same) same.focus({ preventScroll: true });
  else (one('h1', main) ?? main).focus();
};

const openDetails = (main: HTMLElement): string[] => all('details[open][id]', main).map(({ id }) => id);

export const enhanceMain = (main: HTMLElement): void => {
  showCopyButtons(main);
  showLocalTimes(main);
  startCountdown(main, () => void pollOnce(true));
  showPrintButtons(main);
  const section = one('#way-wallet', main);
  if (section) showWallets(section);
  for (const codes of all('[data-qr]', main)) makeCodeToggle(codes);
  for (const ways of all('[data-ways]', main)) makeTabs(ways);
  startRedirect(main);
};

/** Whether both ask for the same, and at the same version: the address goes before that changes, when time is up. */
const areSame = (a: HTMLElement, b: HTMLElement): boolean =>
  a.dataset.version !== undefined &&
  a.dataset.version === b.dataset.version &&
  (one('[data-until]', a) === null) === (one('[data-until]', b) === null);

const swapMain = (main: HTMLElement): void => {
  const old = one('main');
  if (!old || areSame(old, main)) return;
  document.adoptNode(main);
  const active = document.activeElement as HTMLElement | null;
  const selectors = active && active !== old && old.contains(active) ? selectorsOf(active) : null;
  const opened = openDetails(old);
  const { scrollX, scrollY } = window;
  old.replaceWith(main);
  document.body.dataset.version = main.dataset.version ?? '';
  document.title = main.dataset.title ?? document.title;
  for (const details of all<HTMLDetailsElement>('details[id]', main)) details.open ||= opened.includes(details.id);
  enhanceMain(main);
  window.scrollTo(scrollX, scrollY);
  if (active === old) main.focus({ preventScroll: true });
  if (selectors) moveFocus(selectors, main);
  if (main.dataset.announce !== old.dataset.announce) announce(main.dataset.announce ?? document.title);
};

/** Whoever stands between may answer with a page of his own: what is not ours is not shown. */
const mainIn = (markup: string): HTMLElement | null =>
  one('main#payment:is([data-version], [data-notice])', new DOMParser().parseFromString(markup, 'text/html'));

/** A page without a payment, which is the last that this one shows: it must not be paid, or is not there any more. */
const isLast = (main: HTMLElement): boolean => !['unavailable', undefined].includes(main.dataset.notice);

/** Answers whether that was ours. */
const take = (markup: string): boolean => {
  const main = mainIn(markup);
  if (!main || main.dataset.notice === 'unavailable') return false;
  swapMain(main);
  if (isLast(main)) stopLive();
  return true;
};

/** With `anew`, whatever is there now; otherwise what this page does not show, wherever that came from. */
export const pollOnce = async (anew = false): Promise<void> => {
  try {
    const before = document.body.dataset.version;
    const headers: Record<string, string> = anew ? {} : { 'If-None-Match': `"${before}.${root.lang}"` };
    const signal = AbortSignal.timeout(answerTimeoutMs);
    const answer = await fetch(addressOf('main'), { headers, cache: 'no-store', signal });
    const markup = await answer.text();
    // A stream may have been faster, and this answer older.
    const isKnown = answer.status === 304 || before !== document.body.dataset.version;
    noteAnswer(isKnown || (take(markup) && answer.ok));
  } catch {
    noteAnswer(false);
  }
};

const poll = async (): Promise<void> => {
  clearTimeout(live.polling);
  await pollOnce();
  // Not all at the same moment, after a server was away.
  const pauseMs = Math.min(longestPauseMs, pollMs * 2 ** live.failures) * (0.75 + Math.random() / 2);
  if (live.source === null && !live.isOver && !live.isResting) live.polling = setTimeout(poll, pauseMs);
};

const closeStream = (): void => {
  live.source?.close();
  live.source = null;
  clearTimeout(live.firstWord);
  clearTimeout(live.silence);
};

const stopLive = (): void => {
  live.isOver = true;
  closeStream();
  clearTimeout(live.polling);
  clearTimeout(live.streamAgain);
};

const pollInstead = (): void => {
  closeStream();
  if (live.isOver) return;
  clearTimeout(live.streamAgain);
  live.streamAgain = setTimeout(openStream, streamAgainMs);
  void poll();
};

/** A stream that breaks comes back by itself, with the version that it had; one that is refused does not. */
const openStream = (): void => {
  if (live.isOver) return;
  live.isResting = false;
  closeStream();
  clearTimeout(live.polling);
  clearTimeout(live.streamAgain);
  const source = new EventSource(`${addressOf('live')}&have=${document.body.dataset.version ?? ''}`);
  live.source = source;
  live.firstWord = setTimeout(pollInstead, firstWordMs);
  const hear = (): void => {
    clearTimeout(live.firstWord);
    clearTimeout(live.silence);
    if (live.hasBeats) live.silence = setTimeout(openStream, silentMs);
    noteAnswer(true);
  };
  source.addEventListener('open', () => noteAnswer(true));
  source.addEventListener('beat', () => {
    live.hasBeats = true;
    hear();
  });
  // The version that a browser asks for again with may be older than the one that this page shows by now.
  source.addEventListener('same', ({ data }) => {
    live.hasBeats ||= data !== '';
    hear();
    if (data !== '' && data !== document.body.dataset.version) void pollOnce(true);
  });
  source.addEventListener('main', event => {
    hear();
    take(event.data);
  });
  source.addEventListener('error', () => {
    noteAnswer(false);
    if (source.readyState === EventSource.CLOSED || live.failures > 3) pollInstead();
  });
};

/** Browsers open six connections to a host, and each page that streams has one: those behind others give theirs back. */
const rest = (): void => {
  live.isResting = true;
  closeStream();
  clearTimeout(live.polling);
  clearTimeout(live.streamAgain);
};

/** A page that comes back, from sleep or from behind, may have missed much, and its stream may be gone. */
const wake = (): void => {
  clearTimeout(live.resting);
  if (document.visibilityState === 'hidden') live.resting = setTimeout(rest, restAfterMs);
  else if (live.source?.readyState !== EventSource.OPEN) openStream();
  else void pollOnce();
};

export const startLive = (): void => {
  addEventListener('offline', showConnection);
  addEventListener('online', () => {
    live.failures = 0;
    showConnection();
    openStream();
  });
  addEventListener('pagehide', closeStream);
  addEventListener('pageshow', event => {
    if (event.persisted) openStream();
  });
  document.addEventListener('visibilitychange', wake);
  showConnection();
  openStream();
};
