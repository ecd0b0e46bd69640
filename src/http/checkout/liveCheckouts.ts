import type { Language } from '../../checkout/languages.ts';
import { codeOf } from '../../core/errorCode.ts';
import type { Log } from '../../core/log.ts';
import { TamperedPayment } from '../../engine/payments/paymentAddress.ts';
import type { Checkout, CheckoutReader, KnownCheckout } from '../../engine/payments/readCheckout.ts';
import type { WantedCheckout } from '../../storage/payments/checkouts.ts';
import type { CheckoutPages } from './checkoutPages.ts';
import { createLiveStreams, type LiveStream, type Share, type Slot, type StreamLimits } from './liveStreams.ts';

export type LiveLimits = StreamLimits & {
  /** Pages per IP address. Many people may share one, but no person needs hundreds. */
  readonly perAddress: number;
  /** Pages per payment, so that one payment's link cannot use all slots. */
  readonly perPayment: number;
  readonly perEnvironment: number;
  readonly pollMs: number;
  readonly heartbeatMs: number;
};

export const defaultLiveLimits: LiveLimits = {
  perAddress: 100,
  perPayment: 100,
  perEnvironment: 4_000,
  open: 5_000,
  waitingBytes: 128 * 1024,
  pollMs: 400,
  // Proxies close a connection that is silent for 60 seconds, some after 30.
  heartbeatMs: 15_000,
};

const retryMs = 2_000;

type Listener = { readonly stream: LiveStream; readonly language: Language; sent: string | undefined };
/** `known` is the last version that was read. */
type OpenPage = WantedCheckout & { readonly listeners: Set<Listener>; known: Checkout };
/** A snapshot of a page and its listeners at the time of a read. */
type AskedPage = KnownCheckout & { readonly listeners: readonly Listener[] };

export type Listening = {
  readonly wanted: WantedCheckout;
  readonly checkout: Checkout;
  readonly language: Language;
  /** The version that the client shows. */
  readonly has: string | undefined;
};

export type LiveCheckouts = {
  /** `subject` is the client's IP address or its /64. */
  admit(wanted: WantedCheckout, subject: string): Slot;
  listen(slot: Slot, response: Parameters<Slot['open']>[0], listening: Listening): void;
  stop(): Promise<void>;
};

const sharesOf = (limits: LiveLimits, { environment, id }: WantedCheckout, subject: string): readonly Share[] => [
  {
    name: `address ${subject}`,
    most: limits.perAddress,
    code: 'rate_limit_exceeded',
    refusal: 'Too many pages are open from your address. Close some of them.',
  },
  {
    name: `payment ${environment} ${id}`,
    most: limits.perPayment,
    code: 'rate_limit_exceeded',
    refusal: 'Too many pages of this payment are open.',
  },
  {
    name: environment,
    most: limits.perEnvironment,
    code: 'service_unavailable',
    refusal: 'Too many pages are open. Try again later.',
  },
];

/**
 * Sent first if nothing changed: some clients cannot tell a quiet stream from a blocked one. Contains the version,
 * because the page may have been updated in another way since its request.
 */
const nothingNew = (version: string): string => `event: same\ndata: ${version}\n\n`;

const eventOf = (version: string, main: string): string =>
  `event: main\nid: ${version}\n${main
    .split('\n')
    .map(line => `data: ${line}\n`)
    .join('')}\n`;

/**
 * Sends updates to open checkout pages. One loop reads the versions of all their payments in one statement. Nothing
 * runs while no page is open.
 */
export const createLiveCheckouts = (
  reader: CheckoutReader,
  pages: CheckoutPages,
  log: Log,
  limits: LiveLimits,
): LiveCheckouts => {
  const streams = createLiveStreams(limits);
  const open = new Map<string, OpenPage>();
  let timer: NodeJS.Timeout | null = null;
  let looking: Promise<void> | null = null;
  let beatMs = 0;
  let isStopped = false;

  const tell = (listeners: readonly Listener[], checkout: Checkout): void => {
    const { view } = checkout;
    const events = new Map<string, string>();
    for (const listener of listeners) {
      if (listener.sent === view.version) continue;
      const { tag } = listener.language;
      const event = events.get(tag) ?? eventOf(view.version, pages.main(view, listener.language).toString());
      events.set(tag, event);
      listener.sent = view.version;
      listener.stream.send(event);
    }
  };

  const letGo = (id: string, listeners: readonly Listener[]): void => {
    for (const listener of listeners) {
      remove(id, listener);
      listener.stream.end();
    }
  };

  /** Removes the payment address from open pages, and ends their streams. */
  const block = ({ id, listeners }: AskedPage): void => {
    for (const { stream, language } of listeners) {
      stream.send(eventOf('blocked', pages.noticeMain('blocked', language)));
    }
    letGo(id, listeners);
  };

  /** An error affects only its own page. Its clients reconnect and get the error as a normal response. */
  const bring = (asked: AskedPage, answer: Checkout | Error): void => {
    try {
      if (answer instanceof TamperedPayment) block(asked);
      else if (answer instanceof Error) throw answer;
      else {
        const page = open.get(asked.id);
        if (page) page.known = answer;
        tell(asked.listeners, answer);
      }
    } catch (error) {
      log.error({ paymentId: asked.id, err: error }, 'an open checkout page could not be updated');
      letGo(asked.id, asked.listeners);
    }
  };

  /** Updates only the listeners from before the read: a newer listener may already have a newer version. */
  const look = async (): Promise<void> => {
    const asked = [...open.values()].map((page): AskedPage => ({ ...page, listeners: [...page.listeners] }));
    const answers = await reader.readAll(asked);
    for (const [i, answer] of answers.entries()) bring(asked[i]!, answer);
  };

  const turn = async (): Promise<void> => {
    let delayMs = limits.pollMs;
    try {
      if (performance.now() - beatMs >= limits.heartbeatMs) {
        beatMs = performance.now();
        streams.beat();
      }
      await look();
    } catch (error) {
      delayMs = retryMs;
      log.warn({ code: codeOf(error) }, 'open checkout pages could not be updated and will be tried again');
    }
    looking = null;
    schedule(delayMs);
  };

  const schedule = (delayMs: number): void => {
    if (isStopped || timer !== null || looking !== null || open.size === 0) return;
    timer = setTimeout(() => {
      timer = null;
      looking = turn();
    }, delayMs);
  };

  const add = ({ wanted, checkout }: Listening, listener: Listener): void => {
    const page = open.get(wanted.id) ?? { ...wanted, listeners: new Set(), known: checkout };
    page.listeners.add(listener);
    if (open.size === 0) beatMs = performance.now();
    open.set(wanted.id, page);
    schedule(limits.pollMs);
  };
  const remove = (id: string, listener: Listener | null): void => {
    const page = open.get(id);
    if (listener === null || !page?.listeners.delete(listener) || page.listeners.size > 0) return;
    open.delete(id);
  };

  return {
    admit: (wanted, subject) => streams.admit(sharesOf(limits, wanted, subject)),
    listen(slot, response, listening) {
      const { wanted, checkout, language, has } = listening;
      let listener: Listener | null = null;
      let isClosed = false;
      const stream = slot.open(response, () => {
        isClosed = true;
        remove(wanted.id, listener);
      });
      if (isClosed) return;
      listener = { stream, language, sent: has };
      add(listening, listener);
      if (has === checkout.view.version) stream.send(nothingNew(has));
      else tell([listener], checkout);
    },
    async stop() {
      isStopped = true;
      if (timer !== null) clearTimeout(timer);
      streams.stop();
      await looking;
    },
  };
};
