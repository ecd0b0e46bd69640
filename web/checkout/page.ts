/*
 * The files of this folder are bundled into one script, which checkout.ts begins when the page has been read. The page works
 * without it; a part that is missing in the markup is left alone.
 */

export const root = document.documentElement;

export const all = <T extends HTMLElement = HTMLElement>(selector: string, within: ParentNode = document): T[] => [
  ...within.querySelectorAll<T>(selector),
];
export const one = <T extends HTMLElement = HTMLElement>(selector: string, within: ParentNode = document): T | null =>
  within.querySelector<T>(selector);

/** An attribute that the server wrote as JSON; null where it is missing or broken. */
export const jsonOf = <T>(element: HTMLElement | null, name: string): T | null => {
  try {
    return JSON.parse(element?.dataset[name] ?? 'null') as T | null;
  } catch {
    return null;
  }
};

export const showIf = (element: HTMLElement | null, isShown: boolean): void => {
  if (element) element.hidden = !isShown;
};

/** A control that must not be used now keeps the focus, which one that is disabled would lose. */
export const setBusy = (buttons: readonly HTMLElement[], isBusy: boolean): void => {
  for (const button of buttons) {
    if (isBusy) button.setAttribute('aria-disabled', 'true');
    else button.removeAttribute('aria-disabled');
  }
};

let announcing: ReturnType<typeof setTimeout> | undefined;

/** Emptied first: a sentence that stands there already would not be told again. */
export const announce = (sentence: string | undefined): void => {
  const place = one('#announce');
  if (!place || !sentence) return;
  place.textContent = '';
  clearTimeout(announcing);
  announcing = setTimeout(() => {
    place.textContent = sentence;
  }, 50);
};

/**
 * How far the server's clock is ahead. It wrote its time into the header Server-Timing when the first byte came, not when
 * this script began to run, which on a slow line is seconds later. Without that header the payer's clock must do.
 */
const clockAheadMs = (): number => {
  const [entry] = performance.getEntriesByType('navigation') as PerformanceNavigationTiming[];
  const clock = entry?.serverTiming?.find(({ name }) => name === 'clock');
  if (!entry || !clock) return 0;
  const arrivedMs = Date.now() - (performance.now() - entry.responseStart);
  const ahead = Date.parse(clock.description) - arrivedMs;
  return Number.isFinite(ahead) ? ahead : 0;
};

let aheadMs: number | undefined;

export const serverNowMs = (): number => {
  aheadMs ??= clockAheadMs();
  return Date.now() + aheadMs;
};
