// Runs in the page before its own scripts, as an extension's would. What it is asked, the test answers.
{
  const request = async call => {
    const outcome = await window.askWallet(call);
    if ('result' in outcome) return outcome.result;
    throw Object.assign(new Error(outcome.error.message), { code: outcome.error.code });
  };
  const icon =
    'data:image/svg+xml,%3Csvg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1"%3E%3Crect width="1" height="1"/%3E%3C/svg%3E';
  const tell = (uuid, name, image) => {
    const info = Object.freeze({ uuid, name, icon: image, rdns: 'test.wallet' });
    const detail = Object.freeze({ info, provider: { request } });
    dispatchEvent(new CustomEvent('eip6963:announceProvider', { detail }));
  };
  const announceAll = () => {
    tell('350670db-19fa-4704-a166-e52e178b59d2', 'Test wallet', icon);
    tell('77777777-19fa-4704-a166-e52e178b59d2', '<img src=x onerror=alert(1)>', 'https://icons.example/fox.png');
  };
  addEventListener('eip6963:requestProvider', announceAll);
  announceAll();
}
