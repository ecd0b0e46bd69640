import { one, root, showIf } from './page.ts';
import { hasWallets } from './providers.ts';

/**
 * On phones, wallets are apps, and a page finds them only in the browser of the app. These links open the page there.
 * The names are the same in every language.
 */
const walletApps: readonly (readonly [name: string, linkTo: (page: string) => string])[] = [
  // MetaMask expects the URL unencoded and without its scheme.
  ['MetaMask', page => `https://link.metamask.io/dapp/${page.slice('https://'.length)}`],
  ['Coinbase Wallet (Base)', page => `https://go.cb-w.com/dapp?cb_url=${encodeURIComponent(page)}`],
  ['Trust Wallet', page => `https://link.trustwallet.com/open_url?coin_id=60&url=${encodeURIComponent(page)}`],
];

/** Excludes laptops with a touch screen, which do not have these apps. */
const isPhone = (): boolean => matchMedia('(hover: none) and (pointer: coarse)').matches;

/** Excludes loopback: an app does not trust Florin's own certificate, and its loopback may be another device. */
const canAppsReach = (): boolean =>
  location.protocol === 'https:' && !/^(?:(?:.+\.)?localhost|127\.[\d.]+|\[::1\])$/.test(location.hostname);

/** The URL of this page in this language, without other query parameters. */
const ownAddress = (): string => `${location.origin}${location.pathname}?lang=${encodeURIComponent(root.lang)}`;

/** Opens a new tab, so that this page keeps updating. Nothing is sent to the app's maker before the click. */
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
