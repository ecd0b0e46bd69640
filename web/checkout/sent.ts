import { all } from './page.ts';
import { ask, type Provider, wallets } from './providers.ts';

/** A transaction that was sent from this page. Kept across reloads, so that the payer does not pay twice. */
type Sent = { readonly hash: string; readonly atMs: number; readonly isMined: boolean };
/** Shows the state of the transaction. */
type SaySent = (word: 'sent' | 'reverted' | 'unseen', hash: string) => void;

/** After `unseenMs` without a receipt, the payer may try again. Until then, wallets are asked every `lookMs`. */
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
    // Storage may be blocked, for example in a frame. Then the transaction is known until the page is left.
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
    // Storage is blocked, or the stored text is not JSON.
  }
};

/** Whether the page lists this transaction. A changed page is no proof, because other money changes it too. */
export const isListed = ({ hash }: Sent): boolean =>
  all('main .transactions code').some(({ textContent }) => textContent?.toLowerCase() === hash.toLowerCase());

/** Whether a transaction may still arrive, so that the payer must not send again. */
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

/** Asks all wallets, because a reloaded page does not know which one sent. Wallets on another chain find nothing. */
export const watchSent = (say: SaySent): void => {
  clearTimeout(watchingSent);
  if (!sent || sent.isMined) return;
  if (isUnderway()) {
    for (const { provider } of wallets.values()) void lookAtSent(provider, sent.hash, say);
    watchingSent = setTimeout(() => watchSent(say), lookMs);
  } else say('unseen', sent.hash);
};
