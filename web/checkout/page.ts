/*
 * The scripts in this folder are bundled into one. It starts in checkout.ts, after the browser has parsed the page. The
 * page works without it, and it ignores parts that are missing in the markup.
 */

export const root = document.documentElement;

export const all = <T extends HTMLElement = HTMLElement>(selector: string, within: ParentNode = document): T[] => [
  ...within.querySelectorAll<T>(selector),
];
export const one = <T extends HTMLElement = HTMLElement>(selector: string, within: ParentNode = document): T | null =>
  within.querySelector<T>(selector);

/** A data attribute that the server wrote as JSON; null if it is missing or invalid. */
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

/** Uses `aria-disabled`, because a control with `disabled` would lose the focus. */
export const setBusy = (buttons: readonly HTMLElement[], isBusy: boolean): void => {
  for (const button of buttons) {
    if (isBusy) button.setAttribute('aria-disabled', 'true');
    else button.removeAttribute('aria-disabled');
  }
};

let announcing: ReturnType<typeof setTimeout> | undefined;

/** Clears the text first, because screen readers do not read an unchanged text again. */
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
 * How far the server's clock is ahead. The time in the Server-Timing header is compared with the arrival of the first
 * byte, because on a slow connection this script starts seconds later. Without the header, the payer's clock is used.
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
