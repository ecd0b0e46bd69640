import { useSyncExternalStore } from 'react';

/** Wallets in the browser, by EIP-6963 and EIP-1193. Florin holds no keys: people sign with their own. */

export type Provider = { request(call: { method: string; params?: readonly unknown[] }): Promise<unknown> };
export type BrowserWallet = {
  readonly id: string;
  readonly name: string;
  readonly icon: string | null;
  readonly provider: Provider;
};
export type Transaction = {
  readonly chainId: number;
  /** The name of the chain in messages. */
  readonly chainName: string;
  readonly to: string;
  readonly data: string;
  readonly value: string;
};

/** An error whose message is for the person who signs. */
export class WalletStop extends Error {}

/** A limit, because an extension could announce any number of wallets. */
const mostWallets = 20;
let wallets: readonly BrowserWallet[] = [];

type Detail = { info?: { uuid?: unknown; name?: unknown; icon?: unknown }; provider?: Partial<Provider> | null };

/** Accepts only data: URLs, so that no icon is loaded from another server. */
const iconOf = (icon: unknown): string | null =>
  typeof icon === 'string' && /^data:image\/(?:png|svg\+xml|webp|jpeg|gif)[;,]/.test(icon) ? icon : null;

const take = ({ info, provider }: Detail): void => {
  if (typeof info?.uuid !== 'string' || typeof info.name !== 'string' || typeof provider?.request !== 'function')
    return;
  const { uuid: id, name } = info;
  if (wallets.some(wallet => wallet.id === id) || wallets.length >= mostWallets) return;
  wallets = [...wallets, { id, name: name.slice(0, 60), icon: iconOf(info.icon), provider: provider as Provider }];
};

const watch = (notify: () => void): (() => void) => {
  const onAnnounced = (event: Event): void => {
    take((event as CustomEvent<Detail | null>).detail ?? {});
    notify();
  };
  addEventListener('eip6963:announceProvider', onAnnounced);
  dispatchEvent(new Event('eip6963:requestProvider'));
  return () => removeEventListener('eip6963:announceProvider', onAnnounced);
};

export const useBrowserWallets = (): readonly BrowserWallet[] => useSyncExternalStore(watch, () => wallets);

const codeOf = (error: unknown): number | undefined => {
  const { code, data } = (error ?? {}) as { code?: number; data?: { originalError?: { code?: number } } };
  return data?.originalError?.code ?? code;
};
const [userRefused, chainNotAdded] = [4001, 4902];

const ask = (provider: Provider, method: string, ...params: unknown[]): Promise<unknown> =>
  provider.request(params.length === 0 ? { method } : { method, params });

const hexOf = (value: number): string => `0x${value.toString(16)}`;
const isOnChain = async (provider: Provider, chainId: number): Promise<boolean> =>
  Number(await ask(provider, 'eth_chainId')) === chainId;

/**
 * Checks the chain after the switch. Does not add a chain that the wallet does not know: Florin's RPC URLs may be
 * private, and a wallet trusts the node that it is given.
 */
const switchTo = async (provider: Provider, { chainId, chainName }: Transaction): Promise<void> => {
  if (await isOnChain(provider, chainId)) return;
  const chain = `${chainName} (chain ID ${chainId})`;
  try {
    await ask(provider, 'wallet_switchEthereumChain', { chainId: hexOf(chainId) });
  } catch (error) {
    const code = codeOf(error);
    if (code === userRefused) throw error;
    throw new WalletStop(
      code === chainNotAdded
        ? `Your wallet does not know ${chain}. Add this network in the wallet, with a node that you trust, then try again.`
        : `Your wallet did not switch. Switch it to ${chain} yourself, then try again.`,
    );
  }
  if (!(await isOnChain(provider, chainId)))
    throw new WalletStop(`Your wallet is on another chain. Switch it to ${chain}, then try again.`);
};

/** Asks the wallet to sign and send. Returns the hash. The transaction may still fail. */
export const sendTransaction = async (provider: Provider, transaction: Transaction): Promise<string> => {
  try {
    const [from] = (await ask(provider, 'eth_requestAccounts')) as string[];
    if (!from) throw new WalletStop('Your wallet did not share an account.');
    await switchTo(provider, transaction);
    const { chainId, chainName: _, ...rest } = transaction;
    return String(await ask(provider, 'eth_sendTransaction', { ...rest, from, chainId: hexOf(chainId) }));
  } catch (error) {
    if (error instanceof WalletStop) throw error;
    if (codeOf(error) === userRefused)
      throw new WalletStop('The transaction was rejected in the wallet. Nothing was sent.');
    throw new WalletStop('The wallet could not send the transaction. It may not have enough coins for the fee.');
  }
};
