import { one, root, showIf } from './page.ts';
import { hasWallets } from './providers.ts';

/**
 * Wallets of phones live in apps, and are found by no page outside of them. These open a page in a browser of their own, in
 * which they are found. Their names are names in every language.
 */
const walletApps: readonly (readonly [name: string, linkTo: (page: string) => string])[] = [
  // It takes what follows as it stands, and adds the scheme itself.
  ['MetaMask', page => `https://link.metamask.io/dapp/${page.slice('https://'.length)}`],
  ['Coinbase Wallet (Base)', page => `https://go.cb-w.com/dapp?cb_url=${encodeURIComponent(page)}`],
  ['Trust Wallet', page => `https://link.trustwallet.com/open_url?coin_id=60&url=${encodeURIComponent(page)}`],
];

/** No wider than it has to be: a laptop that can be touched has neither these apps nor anything to open them with. */
const isPhone = (): boolean => matchMedia('(hover: none) and (pointer: coarse)').matches;

/** An app trusts no certificate of ours, and its loopback need not be this one. */
const canAppsReach = (): boolean =>
  location.protocol === 'https:' && !/^(?:(?:.+\.)?localhost|127\.[\d.]+|\[::1\])$/.test(location.hostname);

/** This page in this language, and nothing else that somebody may have put into its address. */
const ownAddress = (): string => `${location.origin}${location.pathname}?lang=${encodeURIComponent(root.lang)}`;

/** Opened beside this page, which goes on telling what happens; who made the app hears of it by the click and not before. */
const appLink = (name: string, href: string): HTMLElement => {
  const item = document.createElement('li');
  const link = document.createElement('a');
  link.className = 'button';
  link.href = href;
  link.target = '_blank';
  link.rel = 'noopener noreferrer';
  link.translate = false;
  link.textContent = name;
  item.append(link);
  return item;
};

export const showWalletApps = (section: HTMLElement): void => {
  const place = one('[data-wallet-apps]', section);
  const list = place && one('ul', place);
  if (!list) return;
  const isOffered = !hasWallets() && isPhone() && canAppsReach();
  if (isOffered && list.children.length === 0)
    list.append(...walletApps.map(([name, linkTo]) => appLink(name, linkTo(ownAddress()))));
  showIf(place, isOffered);
};
