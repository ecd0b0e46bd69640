import type { ReactElement } from 'react';
import type { Permission } from '../../../src/core/access/rights.ts';
import type { ApiKey } from '../../../src/core/api/setupApi.ts';
import { Button } from '../kit/button.tsx';
import { CodeBlock } from '../kit/codeBlock.tsx';
import { Buttons } from '../kit/dialog.tsx';
import { SecretOnce } from '../kit/secretOnce.tsx';
import { useEnvironment } from '../pageLocation.ts';
import { useSession } from '../session.tsx';

const isLoopback = (url: string): boolean => /^https:\/\/(?:localhost|127\.0\.0\.1|\[::1\])(?::|\/|$)/.test(url);

/** A Florin on the local machine has its own certificate authority, which curl must be told to trust. */
const start = (url: string): string => (isLoopback(url) ? 'curl --cacert data/tls/ca.pem' : 'curl');

/** A call that this key is allowed to make. */
export const exampleCall = (url: string, key: string, scopes: readonly Permission[]): string => {
  const authorization = `  -H 'Authorization: Bearer ${key}'`;
  if (scopes.includes('payments:write'))
    return [
      `${start(url)} ${url}/v1/payments \\`,
      `${authorization} \\`,
      `  -H 'Content-Type: application/json' \\`,
      `  -d '{"amount": "12.50", "currency": "USDC", "network": "base"}'`,
    ].join('\n');
  const path = scopes.includes('payments:read') ? 'payments' : 'webhooks';
  const first = `${start(url)} ${url}/v1/${path}`;
  const isReading = scopes.includes('payments:read') || scopes.includes('webhooks:read');
  if (isReading) return [`${first} \\`, authorization].join('\n');
  return [
    `${first} \\`,
    `${authorization} \\`,
    `  -H 'Content-Type: application/json' \\`,
    `  -d '{"url": "https://shop.example/webhooks/florin"}'`,
  ].join('\n');
};

/** Shows a new key. Florin cannot show it again. */
export const KeyOnce = ({ made, onDone }: { made: ApiKey & { key: string }; onDone: () => void }): ReactElement => {
  const { urls } = useSession();
  const url = urls[useEnvironment()];
  return (
    <>
      <SecretOnce secret={made.key} what="key">
        This key is shown only once. Florin stores a hash of it. Keep the key where only your server can read it.
      </SecretOnce>
      <div className="stack">
        <h3>Try it</h3>
        <CodeBlock code={exampleCall(url, made.key, made.scopes)} label="Example call" />
      </div>
      <Buttons>
        <Button kind="primary" onClick={onDone}>
          I stored it
        </Button>
      </Buttons>
    </>
  );
};
