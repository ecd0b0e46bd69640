import { all, announce, jsonOf, one, root, serverNowMs, setBusy, showIf } from './page.ts';

const feedbackMs = 2_000;

/** For pages without access to the clipboard: copies from a selected text field. */
const copyBySelection = (text: string, button: HTMLElement): boolean => {
  const field = document.createElement('textarea');
  field.value = text;
  field.readOnly = true;
  field.className = 'quiet';
  button.after(field);
  field.select();
  const isCopied = document.execCommand('copy');
  field.remove();
  button.focus({ preventScroll: true });
  return isCopied;
};

/** The last resort: selects the text, so that the payer can copy it by keyboard. */
const selectBeside = (button: HTMLElement): void => {
  const text = button.previousElementSibling;
  if (text) getSelection()?.selectAllChildren(one('.sum', text) ?? text);
};

const copyFrom = async (button: HTMLElement): Promise<void> => {
  const { copy = '', copied = '' } = button.dataset;
  try {
    await navigator.clipboard.writeText(copy);
  } catch {
    if (!copyBySelection(copy, button)) return selectBeside(button);
  }
  announce(copied);
  if (button.dataset.done) return;
  const label = [...button.childNodes];
  button.dataset.done = 'true';
  button.replaceChildren(copied);
  setTimeout(() => {
    button.replaceChildren(...label);
    delete button.dataset.done;
  }, feedbackMs);
};

export const showCopyButtons = (main: HTMLElement): void => {
  for (const button of all('[data-copy]', main)) {
    button.hidden = false;
    button.addEventListener('click', () => void copyFrom(button));
  }
};

/** The server does not know the payer's time zone. The digits are 0 to 9, as in the server's texts. */
export const showLocalTimes = (main: HTMLElement): void => {
  const format = new Intl.DateTimeFormat(`${root.lang}-u-nu-latn`, {
    year: 'numeric',
    month: 'short',
    day: 'numeric',
    hour: 'numeric',
    minute: '2-digit',
    timeZoneName: 'short',
  });
  for (const time of all<HTMLTimeElement>('time[data-local]', main)) {
    const atMs = Date.parse(time.dateTime);
    if (Number.isFinite(atMs)) time.textContent = format.format(atMs);
  }
};

const minuteMs = 60_000;
/** Poll interval once the time is up. The server may notice it slightly later, because the clocks differ. */
const timeUpMs = 1_500;
let ticking: ReturnType<typeof setTimeout> | undefined;

/** Minutes and seconds, or hours before them. */
const clockText = (leftMs: number): string => {
  const seconds = Math.ceil(leftMs / 1000);
  const parts = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60];
  const shown = parts[0] === 0 ? parts.slice(1) : parts;
  return shown.map((part, index) => (index === 0 ? String(part) : String(part).padStart(2, '0'))).join(':');
};

type TimeUp = { readonly title: string; readonly lead: string; readonly told: string };

/** Removes all ways to pay, even if the server cannot be reached: the payer must not send now. */
const endTime = (main: HTMLElement, { title, lead, told }: TimeUp): void => {
  const heading = one('h1', main);
  if (main.dataset.state === 'timeUp' || !heading) return;
  const isFocusLost = Boolean(document.activeElement?.closest('[data-ways], .facts, h1 + .copy'));
  for (const part of all('[data-ways], .lead, .notice.care, h1 + .copy', main)) part.remove();
  // Hidden, not removed: `areSame` compares the timer with the next markup.
  showIf(one('.facts', main), false);
  const sentence = document.createElement('p');
  sentence.className = 'lead';
  sentence.textContent = lead;
  heading.textContent = document.title = title;
  heading.after(sentence);
  if (isFocusLost) heading.focus();
  main.dataset.state = 'timeUp';
  main.dataset.announce = told;
  announce(told);
};

const untilMsOf = (timer: HTMLElement | null): number => Date.parse(timer?.dataset.until ?? '');
/** For a check just before sending: the countdown may have been suspended. */
export const isTimeUp = (): boolean => serverNowMs() >= untilMsOf(one('[data-until]'));

/** Each tick reads the clock, so the countdown does not drift and is correct after the device wakes up. */
export const startCountdown = (main: HTMLElement, askAgain: () => void): void => {
  clearTimeout(ticking);
  const timer = one('[data-until]', main);
  const untilMs = untilMsOf(timer);
  if (!timer || !Number.isFinite(untilMs)) return;
  const sentences = jsonOf<Record<string, string>>(timer, 'left') ?? {};
  const up = jsonOf<TimeUp>(timer, 'up');
  let lastMs = Number.POSITIVE_INFINITY;
  const tick = (): void => {
    const leftMs = Math.max(0, untilMs - serverNowMs());
    timer.textContent = clockText(leftMs);
    timer.hidden = false;
    // The first tick announces nothing, because the page has just been shown with the time.
    const passed = Number.isFinite(lastMs)
      ? [1, 5, 10].find(minutes => lastMs > minutes * minuteMs && leftMs <= minutes * minuteMs)
      : undefined;
    if (passed !== undefined && leftMs > 0) announce(sentences[passed]);
    lastMs = leftMs;
    // Removes the address at once, without waiting for the server.
    if (leftMs === 0 && up) endTime(main, up);
    if (leftMs === 0) askAgain();
    ticking = setTimeout(tick, leftMs === 0 ? timeUpMs : leftMs % 1000 || 1000);
  };
  tick();
};

let redirecting: ReturnType<typeof setInterval> | undefined;
let redirectAtMs: number | null = null;
let hasStayed = false;

/** Accepts only https. The server checks this too, but a mistake would take the payer to another site here. */
export const startRedirect = (main: HTMLElement): void => {
  clearInterval(redirecting);
  const link = one<HTMLAnchorElement>('a[data-redirect]', main);
  if (!link) redirectAtMs = null;
  if (link?.protocol !== 'https:') link?.removeAttribute('href');
  const count = one('[data-redirect-count]', main);
  const sentence = count?.parentElement ?? null;
  showIf(sentence, Boolean(link?.href) && !hasStayed);
  if (!link?.href || hasStayed) return;
  redirectAtMs ??= Date.now() + Number(link.dataset.redirect) * 1000;
  const stay = one('[data-stay]', main);
  const tick = (): void => {
    const left = Math.max(0, Math.ceil((redirectAtMs! - Date.now()) / 1000));
    if (count) count.textContent = String(left);
    if (left > 0) return;
    clearInterval(redirecting);
    location.assign(link.href);
  };
  stay?.addEventListener('click', () => {
    hasStayed = true;
    clearInterval(redirecting);
    link.focus();
    showIf(sentence, false);
    showIf(stay, false);
  });
  showIf(stay, true);
  tick();
  redirecting = setInterval(tick, 250);
};

export const showPrintButtons = (main: HTMLElement): void => {
  for (const button of all('[data-print]', main)) {
    button.hidden = false;
    button.addEventListener('click', () => window.print());
  }
};

/**
 * With a pointer, a choice takes effect at once. By keyboard, each arrow key changes the list and would load a page, so
 * the payer confirms with the button.
 */
export const submitLanguage = (form: HTMLFormElement): void => {
  const list = one<HTMLSelectElement>('select', form);
  const button = one('button', form);
  let isByKeyboard = false;
  showIf(button, false);
  list?.addEventListener('pointerdown', () => {
    isByKeyboard = false;
  });
  list?.addEventListener('keydown', ({ key }) => {
    if (key === 'Tab' || key === 'Shift') return;
    isByKeyboard = true;
    showIf(button, true);
  });
  list?.addEventListener('change', () => {
    if (!isByKeyboard) form.requestSubmit();
  });
};

let isSimulating = false;

/** `form.submit()` sends no button, so the button's value becomes a hidden field. */
const submitPlain = (form: HTMLFormElement, submitter: HTMLElement | null): void => {
  const field = document.createElement('input');
  field.type = 'hidden';
  field.name = submitter?.getAttribute('name') ?? '';
  field.value = submitter?.getAttribute('value') ?? '';
  form.append(field);
  form.submit();
};

/**
 * Simulates without leaving the page: the result arrives as an update. A refused request is sent again as a plain form,
 * to show the reason. A request without a response is not sent again, because it may have paid.
 */
const simulateInPlace = async (
  form: HTMLFormElement,
  submitter: HTMLElement | null,
  askAgain: () => void,
): Promise<void> => {
  if (isSimulating) return;
  isSimulating = true;
  const buttons = all('button', form);
  setBusy(buttons, true);
  try {
    const fields = new FormData(form, submitter) as unknown as Record<string, string>;
    const answer = await fetch(form.action, { method: 'POST', body: new URLSearchParams(fields), redirect: 'manual' });
    if (answer.status >= 400 && answer.status < 500) submitPlain(form, submitter);
  } catch {
    askAgain();
  } finally {
    isSimulating = false;
    setBusy(buttons, false);
  }
};

export const takeSimulations = (askAgain: () => void): void => {
  document.addEventListener('submit', event => {
    const form = event.target;
    if (!(form instanceof HTMLFormElement) || form.dataset.simulate === undefined) return;
    event.preventDefault();
    void simulateInPlace(form, event.submitter, askAgain);
  });
};
