// Asks this container's Florin whether it is ready: exit code 0 if it is, 1 if not. Plain JavaScript on its own, because
// it runs every half minute and must cost little. It knows the variables, not flags; give settings as variables.
import { request } from 'node:https';
import { pathToFileURL } from 'node:url';

const anywhere = { '0.0.0.0': '127.0.0.1', '::': '::1' };

/** Where to ask; null for a process without the role api, which does not listen. */
export const targetOf = env => {
  const { FLORIN_HOST, FLORIN_PORT, FLORIN_PUBLIC_URL, FLORIN_ROLES } = env;
  const roles = (FLORIN_ROLES || 'all').split(',').map(each => each.trim());
  if (!roles.includes('all') && !roles.includes('api')) return null;
  const address = (FLORIN_HOST || '127.0.0.1').split(',')[0].trim();
  const port = Number(FLORIN_PORT || 8443);
  // Where production and the sandbox share a port, another Host is refused.
  const name = FLORIN_PUBLIC_URL ? new URL(FLORIN_PUBLIC_URL).host : `localhost:${port}`;
  return { host: anywhere[address] ?? address, port, name };
};

const timeoutMs = 8_000;

const ask = ({ host, port, name }) =>
  new Promise(resolve => {
    const headers = { host: name };
    // The certificate is for the public name, and this connection does not leave the container.
    const options = { host, port, path: '/readyz', headers, rejectUnauthorized: false, timeout: timeoutMs };
    const asked = request(options, answer => {
      let text = '';
      answer.setEncoding('utf8').on('data', chunk => {
        text += chunk;
      });
      answer.on('end', () => resolve({ isReady: answer.statusCode === 200, text }));
    });
    asked.on('timeout', () => asked.destroy(new Error(`no answer within ${timeoutMs} ms`)));
    asked.on('error', error => resolve({ isReady: false, text: error.message }));
    asked.end();
  });

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  const target = targetOf(process.env);
  const { isReady, text } = target === null ? { isReady: true, text: 'does not listen' } : await ask(target);
  console.log(text);
  process.exitCode = isReady ? 0 : 1;
}
