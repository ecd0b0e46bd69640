import { all } from './page.ts';
import { ask, type Provider, wallets } from './providers.ts';

/** What a wallet has sent from here. A reload, or another language, must not forget it: who does not see it pays twice. */
type Sent = { readonly hash: string; readonly atMs: number; readonly isMined: boolean };
/** Shows what became of it. */
type SaySent = (word: 'sent' | 'reverted' | 'unseen', hash: string) => void;

/** How long a transaction may stay unseen before it may be tried again, and how often the wallets are asked for it. */
const [unseenMs, lookMs] = [5 * 60_000, 10_000];
export let sent: Sent | null = null;
let watchingSent: ReturnType<typeof setTimeout> | undefined;

const sentKey = (): string => `florin-sent-${document.body.dataset.id}`;

export const keepSent = (what: Sent | null): void => {
  sent = what;
  try {
    if (what) sessionStorage.setItem(sentKey(), JSON.stringify(what));
    else sessionStorage.removeItem(sentKey());
  } catch {
    // Nothing may be kept here, as in some frames: then it is known for as long as the page stays.
  }
};

export const restoreSent = (say: SaySent): void => {
  try {
    const kept = JSON.parse(sessionStorage.getItem(sentKey()) ?? 'null') as Partial<Sent> | null;
    if (typeof kept?.hash !== 'string' || typeof kept.atMs !== 'number') return;
    sent = { hash: kept.hash, atMs: kept.atMs, isMined: kept.isMined === true };
    say('sent', sent.hash);
    watchSent(say);
  } catch {
    // The same.
  }
};

/** Other money changes the page as well: what was sent has arrived when the page names it. */
export const isListed = ({ hash }: Sent): boolean =>
  all('main .transactions code').some(({ textContent }) => textContent?.toLowerCase() === hash.toLowerCase());

/** Whether something is on its way that must not be sent twice. */
export const isUnderway = (): boolean => sent !== null && (sent.isMined || Date.now() - sent.atMs < unseenMs);

const lookAtSent = async (provider: Provider, hash: string, say: SaySent): Promise<void> => {
  const receipt = await ask(provider, 'eth_getTransactionReceipt', hash).catch(() => null);
  const status = (receipt as { status?: unknown } | null)?.status;
  if (sent?.hash !== hash || typeof status !== 'string') return;
  if (Number(status) === 1) keepSent({ ...sent, isMined: true });
  else {
    keepSent(null);
    say('reverted', hash);
  }
};

/** A reloaded page does not know which of the wallets it was; those on another chain know nothing of it. */
export const watchSent = (say: SaySent): void => {
  clearTimeout(watchingSent);
  if (!sent || sent.isMined) return;
  if (isUnderway()) {
    for (const { provider } of wallets.values()) void lookAtSent(provider, sent.hash, say);
    watchingSent = setTimeout(() => watchSent(say), lookMs);
  } else say('unseen', sent.hash);
};
