import type { ReactElement } from 'react';
import { ButtonLink } from '../kit/button.tsx';
import { Copyable } from '../kit/copyButton.tsx';
import { useAnswer } from '../serverCalls.ts';
import { Step } from './step.tsx';

export const WalletStep = (): ReactElement => {
  const wallets = useAnswer('GET /wallets');
  const known = (wallets.data?.data ?? []).flatMap(wallet => (wallet.kind === null ? [] : [wallet]));
  const [first] = known;
  return (
    <Step number={3} title="Set a wallet" isDone={first !== undefined}>
      <p className="muted">
        The sandbox has a test address already. For real payments, enter your own address. Florin never asks for a seed
        phrase.
      </p>
      {first && (
        <p>
          Test payments go to <Copyable text={first.destination} what="treasury address" isShort />
        </p>
      )}
      <div>
        <ButtonLink to="/wallets">Show wallets</ButtonLink>
      </div>
    </Step>
  );
};
