import type { CheckoutView } from '../core/checkoutView.ts';
import { type Html, html } from '../core/html.ts';
import { copyButton } from './copyButton.ts';
import { icons } from './icons.ts';
import { qrCode } from './qrCode.ts';
import { walletUri } from './safeUrl.ts';
import type { Speech } from './speech.ts';

/** The request to a wallet in the browser. */
const walletRequest = (view: CheckoutView): string =>
  JSON.stringify({
    chainId: view.network.chainId,
    chainName: view.network.name,
    nativeCurrency: { name: view.network.nativeCurrency.symbol, ...view.network.nativeCurrency },
    rpcUrl: view.network.walletRpcUrl,
    explorerUrl: view.network.explorerUrl,
    address: view.address,
    contract: view.contract,
    value: view.baseUnits,
  });

const walletWords = ({ text }: Speech): string =>
  JSON.stringify({
    connecting: text('walletConnecting'),
    switching: text('walletSwitching'),
    confirm: text('walletConfirm'),
    sent: text('walletSent'),
    refused: text('walletRefused'),
    chainUnknown: text('walletChainUnknown'),
    insufficient: text('walletInsufficient'),
    failed: text('walletFailed'),
    timeUp: text('timeUpLead'),
    reverted: text('walletReverted'),
    unseen: text('walletUnseen'),
    none: text('walletNone'),
  });

const walletLink = (view: CheckoutView, speech: Speech): Html | null => {
  const uri = walletUri(view.paymentUri);
  return uri === null
    ? null
    : html`<p><a class="button" data-uri href="${uri}">${icons.out}<span>${speech.say('walletOpen')}</span></a></p>`;
};

/** Shown by the script. Without it, the wallet link is in the QR code section. */
const walletWay = (
  view: CheckoutView,
  speech: Speech,
): Html => html`<section id="way-wallet" data-way="${speech.text('wallet')}" data-wallet="${walletRequest(view)}" data-words="${walletWords(speech)}" hidden>
<h2>${speech.text('wallet')}</h2>
<p class="hint">${speech.say('walletLead')}</p>
<ul data-wallets></ul>
<p data-wallet-none hidden>${speech.say('walletNone')}</p>
<p data-wallet-status role="status"></p>
<div data-wallet-apps hidden><p class="hint">${speech.say('walletApps')}</p><ul></ul></div>
${walletLink(view, speech)}
</section>`;

/**
 * Phones get a wallet link above the codes, because they cannot scan their own screen. Other devices get it below the
 * codes if scripts are off.
 */
const qrWay = (
  view: CheckoutView,
  speech: Speech,
): Html => html`<section id="way-qr" data-way="${speech.text('qrCode')}">
<h2>${speech.text('qrCode')}</h2>
<div class="by-touch">${walletLink(view, speech)}</div>
<div data-qr>
<figure data-code="request">${qrCode(view.paymentUri, `${speech.text('qrCode')}: ${speech.text('qrRequest')}`)}<figcaption>${speech.text('qrRequest')}</figcaption><p class="hint">${speech.say('qrRequestHint')}</p></figure>
<figure data-code="address">${qrCode(view.address, `${speech.text('qrCode')}: ${speech.text('qrAddress')}`)}<figcaption>${speech.text('qrAddress')}</figcaption><p class="hint">${speech.say('qrAddressHint')}</p></figure>
</div>
<noscript><div class="by-pointer">${walletLink(view, speech)}</div></noscript>
</section>`;

/**
 * In groups of four, which are easy to compare. The gaps are not characters, so a manual selection copies the plain
 * address. A line may break at each gap.
 */
const grouped = (address: string): Html => {
  const prefix = /^0x/i.exec(address)?.[0] ?? '';
  const groups = [...(prefix === '' ? [] : [prefix]), ...(address.slice(prefix.length).match(/.{1,4}/gsu) ?? [])];
  return html`<code class="address" dir="ltr" translate="no">${groups.map(group => html`<span>${group}</span><wbr>`)}</code>`;
};

const addressWay = (
  view: CheckoutView,
  speech: Speech,
): Html => html`<section id="way-address" data-way="${speech.text('address')}">
<h2>${speech.text('address')}</h2>
<p class="hint">${speech.say('addressLead')}</p>
<div class="address-box">${grouped(view.address)}${copyButton(speech, view.address, 'copyAddress')}</div>
<p class="hint">${speech.say('exchangeHint')}</p>
</section>`;

/** Sections one below the other; the script turns them into tabs. */
export const ways = (view: CheckoutView, speech: Speech): Html =>
  html`<div class="ways" data-ways data-label="${speech.text('waysToPay')}">
${walletWay(view, speech)}
${qrWay(view, speech)}
${addressWay(view, speech)}
</div>`;
