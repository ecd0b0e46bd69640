import { all, jsonOf, one, setBusy, showIf } from './page.ts';
import { isTimeUp } from './parts.ts';
import { ask, hasWallets, type Provider, type Wallet, wallets } from './providers.ts';
import { isListed, isUnderway, keepSent, sent, watchSent } from './sent.ts';
import { showWalletApps } from './walletApps.ts';

/** The payment that the page requests from a wallet. */
type Asked = {
  readonly chainId: number;
  readonly chainName: string;
  readonly nativeCurrency: { readonly name?: string; readonly symbol: string; readonly decimals: number };
  readonly rpcUrl: string | null;
  readonly explorerUrl: string | null;
  readonly address: string;
  readonly contract: string | null;
  /** In base units. */
  readonly value: string;
};

type Word =
  | ('connecting' | 'switching' | 'confirm' | 'sent')
  | ('refused' | 'chainUnknown' | 'insufficient' | 'failed' | 'timeUp' | 'reverted' | 'unseen');

/** Ends an attempt to pay. `word` names the sentence that is shown. */
class Stop extends Error {
  readonly word: Word;
  constructor(word: Word) {
    super(word);
    this.word = word;
  }
}

/** A limit, because an extension could announce any number of wallets. */
const mostWallets = 20;
let said: { readonly word: Word; readonly hash: string | null } | null = null;
/** The attempt with the wallet chosen last. The payer can choose another wallet if this one does not answer. */
let attempt: { readonly provider: Provider } | null = null;
/** While true, a wallet may be sending, and no other wallet may send. */
let isSending = false;

/** Accepts only data: URLs. Loading any other URL would tell a third party about the payment. */
const iconOf = (icon: unknown): string | null =>
  typeof icon === 'string' && /^data:image\/(?:png|svg\+xml|webp|jpeg|gif)[;,]/.test(icon) ? icon : null;

type Detail = { info?: { uuid?: unknown; name?: unknown; icon?: unknown }; provider?: Partial<Provider> | null };

const takeWallet = ({ info, provider }: Detail): void => {
  if (typeof info?.uuid !== 'string' || typeof info.name !== 'string') return;
  if (typeof provider?.request !== 'function' || wallets.has(info.uuid) || wallets.size >= mostWallets) return;
  wallets.set(info.uuid, { name: info.name.slice(0, 60), icon: iconOf(info.icon), provider: provider as Provider });
  const section = one('#way-wallet');
  if (section) showWallets(section);
};

/** EIP-6963: loaded wallets answer at once. Others announce themselves when they load. */
export const discoverWallets = (): void => {
  addEventListener('eip6963:announceProvider', event => takeWallet((event as CustomEvent<Detail | null>).detail ?? {}));
  dispatchEvent(new Event('eip6963:requestProvider'));
};

const asked = (): Asked | null => jsonOf<Asked>(one('#way-wallet'), 'wallet');
/** The same as text, to check later whether the request has changed. */
const askedText = (): string | null => one('#way-wallet')?.dataset.wallet ?? null;

/** Lower-case hexadecimal digits of one ABI word. */
const abiWord = (value: bigint): string => value.toString(16).padStart(64, '0');
const hexOf = (value: bigint): string => `0x${value.toString(16)}`;

const codeOf = (error: unknown): number | undefined => {
  const { code, data } = (error ?? {}) as { code?: number; data?: { originalError?: { code?: number } } };
  return data?.originalError?.code ?? code;
};
const [userRefused, chainNotAdded, unsupported, noSuchMethod] = [4001, 4902, 4200, -32601];

const isOnChain = async (provider: Provider, chainId: number): Promise<boolean> =>
  Number(await ask(provider, 'eth_chainId')) === chainId;

const addChain = async (provider: Provider, wanted: Asked): Promise<void> => {
  if (wanted.rpcUrl === null) throw new Stop('chainUnknown');
  const { symbol, decimals, name = symbol } = wanted.nativeCurrency;
  const chain = {
    chainId: hexOf(BigInt(wanted.chainId)),
    chainName: wanted.chainName,
    nativeCurrency: { name, symbol, decimals },
    rpcUrls: [wanted.rpcUrl],
    ...(wanted.explorerUrl === null ? {} : { blockExplorerUrls: [wanted.explorerUrl] }),
  };
  try {
    await ask(provider, 'wallet_addEthereumChain', chain);
  } catch (error) {
    throw codeOf(error) === userRefused ? error : new Stop('chainUnknown');
  }
};

/** Checks the chain after the switch, because money on the wrong chain does not count. */
const switchChain = async (provider: Provider, wanted: Asked): Promise<void> => {
  const chainId = hexOf(BigInt(wanted.chainId));
  try {
    await ask(provider, 'wallet_switchEthereumChain', { chainId });
  } catch (error) {
    const code = codeOf(error);
    if (code === unsupported || code === noSuchMethod) throw new Stop('chainUnknown');
    if (code !== chainNotAdded) throw error;
    await addChain(provider, wanted);
    if (!(await isOnChain(provider, wanted.chainId))) await ask(provider, 'wallet_switchEthereumChain', { chainId });
  }
  if (!(await isOnChain(provider, wanted.chainId))) throw new Stop('chainUnknown');
};

/** Whether the account holds less than `value`. False if the wallet does not tell: then the wallet itself decides. */
const holdsLess = async (
  provider: Provider,
  from: string,
  contract: string | null,
  value: bigint,
): Promise<boolean> => {
  const data = `0x70a08231${abiWord(BigInt(from))}`;
  try {
    const balance =
      contract === null
        ? await ask(provider, 'eth_getBalance', from, 'latest')
        : await ask(provider, 'eth_call', { to: contract, data }, 'latest');
    return BigInt(String(balance)) < value;
  } catch {
    return false;
  }
};

/** Names the chain, so that a wallet that has changed to another chain refuses. */
const transactionFor = (from: string, { chainId, address, contract, value }: Asked): object => ({
  chainId: hexOf(BigInt(chainId)),
  from,
  ...(contract === null
    ? { to: address, value: hexOf(BigInt(value)) }
    : { to: contract, value: '0x0', data: `0xa9059cbb${abiWord(BigInt(address))}${abiWord(BigInt(value))}` }),
});

const send = async (provider: Provider, from: string, wanted: Asked): Promise<void> => {
  isSending = true;
  sayWallet('confirm');
  try {
    const hash = String(await ask(provider, 'eth_sendTransaction', transactionFor(from, wanted)));
    keepSent({ hash, atMs: Date.now(), isMined: false });
    sayWallet('sent', hash);
    watchSent(sayWallet);
  } finally {
    isSending = false;
  }
};

const pay = async (own: NonNullable<typeof attempt>): Promise<void> => {
  const { provider } = own;
  sayWallet('connecting');
  const [from] = (await ask(provider, 'eth_requestAccounts')) as string[];
  const [wanted, wantedText] = [asked(), askedText()];
  if (!wanted || attempt !== own) return;
  if (!from) throw new Stop('refused');
  if (!(await isOnChain(provider, wanted.chainId))) {
    sayWallet('switching');
    await switchChain(provider, wanted);
  }
  if (await holdsLess(provider, from, wanted.contract, BigInt(wanted.value))) throw new Stop('insufficient');
  // The steps above take time, and the wallet may have changed to another chain.
  if (!(await isOnChain(provider, wanted.chainId))) throw new Stop('chainUnknown');
  // There must be no await between these checks and sending.
  if (attempt !== own) return;
  if (isTimeUp()) throw new Stop('timeUp');
  // The page may have been updated while the payer confirmed. Then another amount or nothing is due.
  if (askedText() !== wantedText) throw new Stop('failed');
  try {
    await send(provider, from, wanted);
  } catch (error) {
    // Not checked before sending, because somebody else may pay the network fee.
    const isStopped = codeOf(error) !== userRefused && (await holdsLess(provider, from, null, 1n));
    throw isStopped ? new Stop('insufficient') : error;
  }
};

/** A second click on the same wallet does nothing. Another wallet replaces the attempt until sending begins. */
const payOnce = async (provider: Provider): Promise<void> => {
  if (isSending || isUnderway() || attempt?.provider === provider) return;
  const own = { provider };
  attempt = own;
  try {
    await pay(own);
  } catch (error) {
    const word = codeOf(error) === userRefused ? 'refused' : 'failed';
    if (attempt === own) sayWallet(error instanceof Stop ? error.word : word);
  } finally {
    if (attempt === own) attempt = null;
    const section = one('#way-wallet');
    if (section) showWallets(section);
  }
};

export const sayWallet = (word: Word, hash: string | null = null): void => {
  said = { word, hash };
  const section = one('#way-wallet');
  if (section) showWallets(section);
};

const showStatus = (section: HTMLElement): void => {
  const place = one('[data-wallet-status]', section);
  const sentence = said && jsonOf<Record<string, string>>(section, 'words')?.[said.word];
  if (!place || !sentence) return;
  const text = said?.hash ? `${sentence} ` : sentence;
  if (place.firstChild?.textContent === text) return;
  place.textContent = text;
  if (!said?.hash) return;
  const code = document.createElement('code');
  code.dir = 'ltr';
  code.textContent = said.hash;
  place.append(code);
};

const walletButton = ({ name, icon, provider }: Wallet, index: number): HTMLElement => {
  const item = document.createElement('li');
  const button = document.createElement('button');
  button.type = 'button';
  button.id = `wallet-${index}`;
  if (icon !== null) {
    const image = document.createElement('img');
    image.src = icon;
    image.alt = '';
    image.width = 24;
    image.height = 24;
    button.append(image);
  }
  button.append(name);
  button.addEventListener('click', () => void payOnce(provider));
  item.append(button);
  return item;
};

export const showWallets = (section: HTMLElement): void => {
  const list = one('[data-wallets]', section);
  if (!list) return;
  for (const [index, wallet] of [...wallets.values()].entries()) {
    if (index >= list.children.length) list.append(walletButton(wallet, index));
  }
  showIf(list, hasWallets());
  showIf(one('[data-wallet-none]', section), !hasWallets());
  showWalletApps(section);
  // The transaction has arrived and did not cover the amount. The payer can send the rest.
  if (sent && isListed(sent)) {
    keepSent(null);
    said = null;
  }
  const isLocked = isSending || isUnderway();
  for (const [index, { provider }] of [...wallets.values()].entries())
    setBusy(all(`#wallet-${index}`, list), isLocked || attempt?.provider === provider);
  showStatus(section);
};
