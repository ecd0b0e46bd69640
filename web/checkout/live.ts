import { all, announce, one, root } from './page.ts';
import { showCopyButtons, showLocalTimes, showPrintButtons, startCountdown, startRedirect } from './parts.ts';
import { showWallets } from './wallet.ts';
import { makeCodeToggle, makeTabs } from './ways.ts';

/** Poll interval of a page without a stream, and the longest pause after failures. */
const [pollMs, longestPauseMs] = [2_000, 10_000];
const answerTimeoutMs = 10_000;
/** A stream without an event after this time is blocked, for example by a proxy that buffers responses. */
const firstWordMs = 6_000;
/** A page that had to poll tries a stream again after this time. */
const streamAgainMs = 60_000;
const restAfterMs = 60_000;
/** A heartbeat comes every 15 s. A stream that misses two is dead, even if the browser has not noticed. */
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

/** Attributes that identify an element in new markup, in the order in which they are tried. */
const marks = ['id', 'name', 'data-copy', 'aria-label', 'data-print', 'data-stay', 'data-uri', 'href'];

const selectorsOf = (element: HTMLElement): string[] => {
  const attribute = (name: string): string => `[${name}="${CSS.escape(element.getAttribute(name) ?? '')}"]`;
  const tag = element.localName;
  const value = element.hasAttribute('value') ? attribute('value') : '';
  const found = marks.filter(name => element.hasAttribute(name)).map(name => tag + attribute(name) + value);
  return tag === 'h1' || tag === 'summary' ? [...found, tag] : found;
};

const isVisible = (element: HTMLElement): boolean => element.getClientRects().length > 0;

/** Moves the focus to the same element in the new markup, or to the heading if that element is not there. */
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

/** Compares version and timer: when the time is up, markup without a timer may still have the old version. */
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

/** Null if the markup is not from Florin: a proxy may answer with its own page. */
const mainIn = (markup: string): HTMLElement | null =>
  one('main#payment:is([data-version], [data-notice])', new DOMParser().parseFromString(markup, 'text/html'));

/** Whether this is the last update: the payment must not be paid, or does not exist. */
const isLast = (main: HTMLElement): boolean => !['unavailable', undefined].includes(main.dataset.notice);

/** Shows the markup. Returns false if it is not from Florin, or if the payment could not be read. */
const take = (markup: string): boolean => {
  const main = mainIn(markup);
  if (!main || main.dataset.notice === 'unavailable') return false;
  swapMain(main);
  if (isLast(main)) stopLive();
  return true;
};

/** Updates the page. Without `anew`, the server sends nothing if the page already shows its version. */
export const pollOnce = async (anew = false): Promise<void> => {
  try {
    const before = document.body.dataset.version;
    const headers: Record<string, string> = anew ? {} : { 'If-None-Match': `"${before}.${root.lang}"` };
    const signal = AbortSignal.timeout(answerTimeoutMs);
    const answer = await fetch(addressOf('main'), { headers, cache: 'no-store', signal });
    const markup = await answer.text();
    // If the stream has updated the page in the meantime, this response may be older.
    const isKnown = answer.status === 304 || before !== document.body.dataset.version;
    noteAnswer(isKnown || (take(markup) && answer.ok));
  } catch {
    noteAnswer(false);
  }
};

const poll = async (): Promise<void> => {
  clearTimeout(live.polling);
  await pollOnce();
  // The jitter keeps pages from polling at the same moment after the server was down.
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

/** The browser reopens a broken stream by itself. It does not reopen a refused one, so the page polls instead. */
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
  // A browser that reconnects sends the version of its last event. The page may show another version.
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

/** Browsers open at most six HTTP/1.1 connections to a host, and each stream uses one. So hidden pages close theirs. */
const rest = (): void => {
  live.isResting = true;
  closeStream();
  clearTimeout(live.polling);
  clearTimeout(live.streamAgain);
};

/** A page that becomes visible again may have missed updates, and its stream may be closed. */
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
