import type { ReactElement } from 'react';
import type { UnsweptRow } from '../../../src/core/api/moneyApi.ts';
import { say } from '../kit/announce.tsx';
import { Confirm } from '../kit/confirm.tsx';
import { Copyable } from '../kit/copyButton.tsx';
import { networkName } from '../kit/networkName.ts';
import { useAct } from '../serverCalls.ts';

/** A contract of the same address may be somebody else's on another network, so the question names the network. */
export const safeQuestion = (network: string): string =>
  `Open this Safe on ${networkName(network)}. Do you see it there, with your own signers?`;

/** The treasury of unswept money, which may have been replaced since. */
export const ConfirmTreasury = ({ row, onClose }: { row: UnsweptRow; onClose: () => void }): ReactElement => {
  const confirm = useAct('POST /settlement/confirm', { refresh: ['GET /settlement', 'GET /wallets', 'GET /go-live'] });
  const { network, treasury } = row;
  const name = networkName(network);
  return (
    <Confirm
      isOpen
      onClose={onClose}
      title={`Is this treasury yours on ${name}?`}
      verb="Yes, with my own signers"
      refusal="Not now"
      kind="primary"
      act={async () => {
        await confirm.mutateAsync({ body: { network, treasury } });
        say('The treasury is confirmed.');
      }}
    >
      <p>{safeQuestion(network)}</p>
      <Copyable text={treasury} what="treasury address" />
      <p className="muted">If it is not yours on {name}, a sweep gives the money to somebody else.</p>
    </Confirm>
  );
};
