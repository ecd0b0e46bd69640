const startCheckout = (): void => {
  for (const form of all<HTMLFormElement>('form[data-language]')) submitLanguage(form);
  takeSimulations();
  const main = one('main#payment');
  if (!main || !document.body.dataset.id) return;
  discoverWallets();
  restoreSent();
  enhanceMain(main);
  startLive();
};

// The script is deferred, so this comes after all of it, in whichever order its files were put together.
document.addEventListener('DOMContentLoaded', startCheckout);
