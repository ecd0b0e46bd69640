import type { ReactElement } from 'react';
import type { AnswerOf } from '../../../src/core/api/dashboardApi.ts';
import type { Payment } from '../../../src/core/api/payment.ts';
import { StatusBadge } from '../kit/badge.tsx';
import { Copyable } from '../kit/copyButton.tsx';
import { groupedAmount, Money } from '../kit/money.tsx';
import { networkName } from '../kit/networkName.ts';
import { Card, Facts, Notice, Page } from '../kit/page.tsx';
import { Answer, Empty } from '../kit/states.tsx';
import { Table } from '../kit/table.tsx';
import { Time } from '../kit/time.tsx';
import { Link } from '../link.tsx';
import { keptList } from '../money/lastList.ts';
import { isOpen, openMs, restMs } from '../money/openPayment.ts';
import { PaymentActions, Simulate } from '../money/paymentActions.tsx';
import { PaymentBadges } from '../money/paymentBadges.tsx';
import { confirmationsText, tabTitleOf } from '../money/paymentText.ts';
import { Timeline } from '../money/timeline.tsx';
import { useEnvironment } from '../pageLocation.ts';
import { useAnswer } from '../serverCalls.ts';
import { useMay } from '../session.tsx';

type Answered = AnswerOf<'GET /payments/:id'>;

const Hash = ({ hash, explorerUrl }: { hash: string | null; explorerUrl: string | null }): ReactElement => {
  if (hash === null) return <span>—</span>;
  return (
    <span className="row">
      <Copyable text={hash} what="transaction" isShort />
      {explorerUrl && (
        <a href={explorerUrl} target="_blank" rel="noreferrer">
          View
        </a>
      )}
    </span>
  );
};

/** Confirmations count from the block that covers the amount, even if a part arrived earlier. */
const leadOf = ({ status, confirmations }: Payment): string | undefined => {
  const { current, required } = confirmations;
  if (required !== null && current > 0) return `${confirmationsText(confirmations)} confirmations.`;
  if (status !== 'pending' && status !== 'confirming') return undefined;
  if (required === null) return 'The payment completes when the network finalizes the block.';
  return `The payment completes after ${required} ${required === 1 ? 'confirmation' : 'confirmations'}.`;
};

const Transactions = ({ payment }: { payment: Payment }): ReactElement => (
  <Card title="Transactions" lead={leadOf(payment)}>
    {payment.transactions.length === 0 ? (
      <Empty title="No transactions yet" />
    ) : (
      <Table
        caption="Transactions"
        rows={payment.transactions}
        keyOf={({ hash, from, blockNumber, amount }) => `${hash} ${from} ${blockNumber} ${amount}`}
        columns={[
          { head: 'Amount', cell: ({ amount }) => <Money amount={amount} currency={payment.currency} /> },
          { head: 'Status', cell: ({ status }) => <StatusBadge status={status} /> },
          { head: 'Transaction', cell: ({ hash, explorerUrl }) => <Hash hash={hash} explorerUrl={explorerUrl} /> },
          {
            head: 'From',
            cell: ({ from }) => (from === null ? '—' : <Copyable text={from} what="sender address" isShort />),
          },
          { head: 'Block', cell: ({ blockNumber }) => groupedAmount(String(blockNumber)), align: 'end' },
          {
            head: 'Confirmations',
            cell: ({ confirmations: current }) =>
              confirmationsText({ current, required: payment.confirmations.required }),
            align: 'end',
          },
        ]}
      />
    )}
  </Card>
);

const Strays = ({ strays }: { strays: Answered['strays'] }): ReactElement => (
  <Notice tone="care">
    <p>
      <strong>Wrong token or network.</strong> This money does not count towards the payment.
    </p>
    <ul className="strays">
      {strays.map(({ amount, name, network, isOtherNetwork, txHash, explorerUrl }, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a transaction may bring the same amount twice.
        <li key={`${txHash} ${index}`} className="row">
          <span>
            {amount}
            {name !== null && ` (${name})`} on {network}
            {isOtherNetwork && ', a different network'}
          </span>
          <Hash hash={txHash} explorerUrl={explorerUrl} />
        </li>
      ))}
    </ul>
  </Notice>
);

const PaymentFacts = ({ payment, answer }: { payment: Payment; answer: Answered }): ReactElement => {
  const { treasury, isSwept } = answer;
  return (
    <Card title="Details">
      <Facts
        facts={[
          ['Payment ID', <Copyable key="id" text={payment.id} what="payment ID" />],
          ['Order ID', payment.externalId ?? '—'],
          ['Description', payment.description ?? '—'],
          ['Amount', <Money key="amount" amount={payment.amount} currency={payment.currency} />],
          ['Received', <Money key="received" amount={payment.amountReceived} currency={payment.currency} />],
          ['Confirmed', <Money key="confirmed" amount={payment.amountConfirmed} currency={payment.currency} />],
          ['Network', networkName(payment.network)],
          ['Payment address', <Copyable key="address" text={payment.address} what="payment address" />],
          ...(treasury
            ? ([
                [
                  isSwept ? 'Swept to' : 'Treasury',
                  <Copyable key="treasury" text={treasury} what="treasury address" />,
                ],
              ] as const)
            : []),
          ['Checkout link', <Copyable key="checkout" text={payment.checkoutUrl} what="checkout link" />],
          ['Callback URL', payment.callbackUrl ?? '—'],
          ['Created', <Time key="created" at={payment.createdAt} />],
          ['Expires', <Time key="expires" at={payment.expiresAt} />],
          ...(payment.completedAt ? [['Completed', <Time key="completed" at={payment.completedAt} />] as const] : []),
          ...(payment.canceledAt ? [['Canceled', <Time key="canceled" at={payment.canceledAt} />] as const] : []),
          ...Object.entries(payment.metadata).map(
            ([name, value]) =>
              [
                `Metadata: ${name}`,
                <code key={name}>{typeof value === 'string' ? value : JSON.stringify(value)}</code>,
              ] as const,
          ),
        ]}
      />
    </Card>
  );
};

const Loaded = ({ payment, answer }: { payment: Payment; answer: Answered }): ReactElement => {
  const environment = useEnvironment();
  const networks = useAnswer('GET /networks');
  const maySimulate = useMay('payments.create');
  const isLocal = networks.data?.data.find(({ slug }) => slug === payment.network)?.isLocal ?? false;
  return (
    <>
      <div className="payment-head">
        <div className="payment-amount" aria-live="polite">
          <Money amount={payment.amount} currency={payment.currency} />
          <PaymentBadges payment={payment} />
        </div>
        <div className="page-actions">
          <PaymentActions payment={payment} allows={answer.allows} />
        </div>
      </div>
      {answer.strays.length > 0 && <Strays strays={answer.strays} />}
      {environment === 'sandbox' && isLocal && maySimulate && <Simulate payment={payment} />}
      <div className="payment-columns">
        <Card title="Timeline">
          {answer.isCut && <p className="muted">Only the newest entries of each kind are shown.</p>}
          <Timeline entries={answer.timeline} />
        </Card>
        <PaymentFacts payment={payment} answer={answer} />
      </div>
      <Transactions payment={payment} />
    </>
  );
};

const PaymentPage = ({ params }: { params: Readonly<Record<string, string>> }): ReactElement => {
  const environment = useEnvironment();
  const answer = useAnswer(
    'GET /payments/:id',
    { params: { id: params.id! } },
    { everyMs: known => (known && !isOpen(known.payment) ? restMs : openMs) },
  );
  return (
    <Page
      title="Payment"
      tabTitle={answer.data && tabTitleOf(answer.data.payment)}
      lead={<Link to={keptList(environment)}>Payments</Link>}
    >
      <Answer of={answer} lines={14}>
        {known => <Loaded payment={known.payment} answer={known} />}
      </Answer>
    </Page>
  );
};

export default PaymentPage;
