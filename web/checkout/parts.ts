import { all, announce, jsonOf, one, root, serverNowMs, setBusy, showIf } from './page.ts';

const feedbackMs = 2_000;

/** For pages that may not use the clipboard: the old way, by a field that is selected. */
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

/** What a person can still do when nothing else is allowed: the text is marked, ready for the keyboard. */
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

/** The server does not know where the payer is. Digits are the ones that it writes. */
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
/** How often is asked whether the page knows that its time is up: the two clocks need not agree to the second. */
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

/** Nobody is to send now, whether or not the server can be asked what became of the payment. */
const endTime = (main: HTMLElement, { title, lead, told }: TimeUp): void => {
  const heading = one('h1', main);
  if (main.dataset.state === 'timeUp' || !heading) return;
  const isFocusLost = Boolean(document.activeElement?.closest('[data-ways], .facts, h1 + .copy'));
  for (const part of all('[data-ways], .lead, .notice.care, h1 + .copy', main)) part.remove();
  // The time itself stays in the markup, by which what comes next is told from this.
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
/** For who is about to send: the countdown itself may have slept. */
export const isTimeUp = (): boolean => serverNowMs() >= untilMsOf(one('[data-until]'));

/** Reads the clock anew each time, so it does not drift, and is right at once after a sleep. */
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
    // The first look announces nothing: whoever has just come reads the time itself.
    const passed = Number.isFinite(lastMs)
      ? [1, 5, 10].find(minutes => lastMs > minutes * minuteMs && leftMs <= minutes * minuteMs)
      : undefined;
    if (passed !== undefined && leftMs > 0) announce(sentences[passed]);
    lastMs = leftMs;
    // The address goes with the time, whenever the network tells what became of the payment.
    if (leftMs === 0 && up) endTime(main, up);
    if (leftMs === 0) askAgain();
    ticking = setTimeout(tick, leftMs === 0 ? timeUpMs : leftMs % 1000 || 1000);
  };
  tick();
};

let redirecting: ReturnType<typeof setInterval> | undefined;
let redirectAtMs: number | null = null;
let hasStayed = false;

/** The server lets https alone through; this looks again, because it is here that somebody would be led away. */
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
 * Whoever points gets the language at once. By keyboard a closed list changes with every arrow key, and nobody wants a
 * new page for each: the button is there for that.
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

/** A form that a script sends has no button, so what the button says becomes a field. */
const submitPlain = (form: HTMLFormElement, submitter: HTMLElement | null): void => {
  const field = document.createElement('input');
  field.type = 'hidden';
  field.name = submitter?.getAttribute('name') ?? '';
  field.value = submitter?.getAttribute('value') ?? '';
  form.append(field);
  form.submit();
};

/**
 * Without leaving the page: what comes of it arrives by itself. Only what was refused is sent again, as forms are, to show
 * why: an answer that was lost may be the one that says it was paid.
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
