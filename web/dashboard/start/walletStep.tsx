import type { ReactElement } from 'react';
import { useAnswer } from '../asking.ts';
import { ButtonLink } from '../kit/button.tsx';
import { Copyable } from '../kit/copyButton.tsx';
import { Step } from './step.tsx';

export const WalletStep = (): ReactElement => {
  const wallets = useAnswer('GET /wallets');
  const known = (wallets.data?.data ?? []).flatMap(wallet => (wallet.kind === null ? [] : [wallet]));
  const [first] = known;
  return (
    <Step number={3} title="Say where the money goes" isDone={first !== undefined}>
      <p className="muted">
        In the sandbox a test address is set for you, so that nothing waits. For real money you enter your own address,
        never a seed.
      </p>
      {first && (
        <p>
          Test payments go to <Copyable text={first.destination} what="treasury address" isShort />
        </p>
      )}
      <div>
        <ButtonLink to="/wallets">Look at the wallets</ButtonLink>
      </div>
    </Step>
  );
};
