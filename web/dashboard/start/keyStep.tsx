import { type ReactElement, useState } from 'react';
import { grantable } from '../../../src/core/access/rights.ts';
import { Button } from '../kit/button.tsx';
import { CodeBlock } from '../kit/codeBlock.tsx';
import { SecretOnce } from '../kit/secretOnce.tsx';
import { ErrorBox } from '../kit/states.tsx';
import { useAct, useAnswer } from '../serverCalls.ts';
import { useSession } from '../session.tsx';
import { Step } from './step.tsx';

const isLoopback = (url: string): boolean => /^(?:localhost|127\.0\.0\.1|\[::1\])$/.test(new URL(url).hostname);

/** Runs in the folder of Florin: a local installation has its own certificate authority in `data`. */
const curlFor = (url: string, key: string): string =>
  [
    `curl ${isLoopback(url) ? '--cacert data/tls/ca.pem ' : ''}${url}/v1/payments`,
    `-H 'Authorization: Bearer ${key}'`,
    "-H 'Content-Type: application/json'",
    `-d '{"amount": "25.00", "currency": "USDC", "network": "base"}'`,
  ].join(' \\\n  ');

export const KeyStep = (): ReactElement => {
  const { urls, person } = useSession();
  const [key, setKey] = useState<string | null>(null);
  const keys = useAnswer('GET /keys');
  const create = useAct('POST /keys', { refresh: ['GET /keys'] });
  const hasKey = (keys.data?.data ?? []).some(({ status }) => status === 'active');
  const make = (): void =>
    create.mutate(
      { body: { name: 'First sandbox key', scopes: grantable(person.role) } },
      { onSuccess: made => setKey(made.key) },
    );
  return (
    <Step number={1} title="Create a sandbox key" isDone={key !== null || hasKey}>
      <p className="muted">Your server sends it with each request. It works in the sandbox only.</p>
      {create.error && <ErrorBox error={create.error} />}
      {key !== null && <SecretOnce secret={key} what="API key" />}
      {key === null && (
        <div>
          <Button kind={hasKey ? 'plain' : 'primary'} isBusy={create.isPending} onClick={make}>
            {hasKey ? 'Create another key' : 'Create a key'}
          </Button>
        </div>
      )}
      <p>
        To create a payment, run this in the folder of Florin{key === null && ', with your key in place of the dots'}:
      </p>
      <CodeBlock label="Command" code={curlFor(urls.sandbox, key ?? 'sk_test_…')} />
      {isLoopback(urls.sandbox) && (
        <p className="muted">
          <code>data/tls/ca.pem</code> is the certificate authority of this installation.
        </p>
      )}
    </Step>
  );
};
