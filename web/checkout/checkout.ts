import { enhanceMain, pollOnce, startLive } from './live.ts';
import { all, one } from './page.ts';
import { submitLanguage, takeSimulations } from './parts.ts';
import { restoreSent } from './sent.ts';
import { discoverWallets, sayWallet } from './wallet.ts';

const startCheckout = (): void => {
  for (const form of all<HTMLFormElement>('form[data-language]')) submitLanguage(form);
  takeSimulations(() => void pollOnce());
  const main = one('main#payment');
  if (!main || !document.body.dataset.id) return;
  discoverWallets();
  restoreSent(sayWallet);
  enhanceMain(main);
  startLive();
};

startCheckout();
