import { type ReactElement, useEffect, useState } from 'react';
import type { SweepPlan, UnsweptRow } from '../../../src/core/api/moneyApi.ts';
import { CallError } from '../client.ts';
import { say } from '../kit/announce.tsx';
import { Button } from '../kit/button.tsx';
import { CodeBlock } from '../kit/codeBlock.tsx';
import { Copyable } from '../kit/copyButton.tsx';
import { Dialog } from '../kit/dialog.tsx';
import { Money } from '../kit/money.tsx';
import { networkName } from '../kit/networkName.ts';
import { Facts, Notice } from '../kit/page.tsx';
import { ErrorBox, Loading } from '../kit/states.tsx';
import { useAct, useAnswer } from '../serverCalls.ts';
import { type BrowserWallet, sendTransaction, useBrowserWallets } from './browserWallets.ts';

type Batch = SweepPlan['transactions'][number];

const transactionOf = ({ chainId, to, data, value }: Batch) => ({ chainId, to, data, value });

/**
 * Sends one batch after the other, and records the hash of each before the next is sent. If recording fails, the next
 * try records that hash again. It does not send the batch twice.
 */
const useSweep = (row: UnsweptRow, chainName: string) => {
  const record = useAct('POST /settlement/sweeps', { refresh: ['GET /settlement'] });
  const [sent, setSent] = useState<readonly string[]>([]);
  const [recorded, setRecorded] = useState(0);
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<CallError | null>(null);
  const send = async (wallet: BrowserWallet, batches: readonly Batch[]): Promise<void> => {
    if (isBusy) return;
    setBusy(true);
    setError(null);
    try {
      for (const [at, batch] of batches.entries()) {
        if (at < recorded) continue;
        const txHash = sent[at] ?? (await sendTransaction(wallet.provider, { ...transactionOf(batch), chainName }));
        if (at >= sent.length) setSent(known => [...known, txHash]);
        const { network, currency } = row;
        await record.mutateAsync({ body: { network, currency, txHash, payments: batch.payments } });
        setRecorded(at + 1);
        say('Sent. The sweep is marked as landed once its block is confirmed.');
      }
    } catch (thrown) {
      const message = thrown instanceof Error ? thrown.message : String(thrown);
      setError(thrown instanceof CallError ? thrown : new CallError(null, { code: 'wallet_failed', message }));
    } finally {
      setBusy(false);
    }
  };
  return { send, sent, recorded, isBusy, error };
};

const Wallets = ({
  isBusy,
  onChoose,
}: {
  isBusy: boolean;
  onChoose: (wallet: BrowserWallet) => void;
}): ReactElement => {
  const wallets = useBrowserWallets();
  if (wallets.length === 0)
    return (
      <p className="muted">
        This browser has no wallet. Install one, or send the transactions below with another wallet.
      </p>
    );
  return (
    <ul className="wallet-list">
      {wallets.map(wallet => (
        <li key={wallet.id}>
          <Button isBusy={isBusy} onClick={() => onChoose(wallet)}>
            {wallet.icon && <img src={wallet.icon} alt="" width="20" height="20" />}
            Sign with {wallet.name}
          </Button>
        </li>
      ))}
    </ul>
  );
};

type Plan = { row: UnsweptRow; plan: SweepPlan; chainName: string; onClose: () => void };

const Planned = ({ row, plan, chainName, onClose }: Plan): ReactElement => {
  const { send, sent, recorded, isBusy, error } = useSweep(row, chainName);
  const batches = plan.transactions;
  const payments = batches.reduce((sum, batch) => sum + batch.payments.length, 0);
  const isDone = recorded === batches.length;
  return (
    <>
      <Facts
        facts={[
          ['Amount', <Money key="amount" amount={plan.amount} currency={plan.currency} />],
          ['Payments', String(payments)],
          ['Transactions', `${sent.length} of ${batches.length} sent`],
          ['Treasury', <Copyable key="treasury" text={row.treasury} what="treasury address" />],
        ]}
      />
      <p className="muted">
        The wallet that signs pays only the network fee. The money can only go to the treasury, whichever wallet signs.
      </p>
      {plan.failing.length > 0 && (
        <Notice>
          <p>
            {plan.failing.length === 1 ? 'One payment' : `${plan.failing.length} payments`} would not move now, for
            example because the token has blocked the address. {plan.failing.length === 1 ? 'It comes' : 'They come'}{' '}
            last: {plan.failing.join(', ')}.
          </p>
        </Notice>
      )}
      {error && <ErrorBox error={error} />}
      {isDone ? (
        <Button kind="primary" onClick={onClose}>
          Done
        </Button>
      ) : (
        <Wallets isBusy={isBusy} onChoose={wallet => void send(wallet, batches)} />
      )}
      <details>
        <summary>Transactions for another wallet</summary>
        <CodeBlock
          label="Transactions"
          code={JSON.stringify(
            batches.map(batch => transactionOf(batch)),
            null,
            2,
          )}
        />
      </details>
    </>
  );
};

export const SweepDialog = ({ row, onClose }: { row: UnsweptRow; onClose: () => void }): ReactElement => {
  const plan = useAct('POST /settlement/plan');
  const networks = useAnswer('GET /networks');
  const { mutate } = plan;
  const { network, currency, treasury } = row;
  // Messages about the wallet name the chain behind the network: on a local chain they differ.
  const chainName = networks.data?.data.find(({ slug }) => slug === network)?.name ?? networkName(network);
  const isReady = plan.data && !networks.isPending;
  useEffect(() => mutate({ body: { network, currency, treasury } }), [mutate, network, currency, treasury]);
  return (
    <Dialog isOpen onClose={onClose} title={`Sweep ${currency} on ${networkName(network)}`} isWide>
      {plan.error && <ErrorBox error={plan.error} onRetry={() => mutate({ body: { network, currency, treasury } })} />}
      {isReady && plan.data.transactions.length === 0 && (
        <Notice>
          <p>There is nothing left to sweep.</p>
        </Notice>
      )}
      {isReady && plan.data.transactions.length > 0 && (
        <Planned row={row} plan={plan.data} chainName={chainName} onClose={onClose} />
      )}
      {!isReady && !plan.error && <Loading lines={5} />}
    </Dialog>
  );
};
