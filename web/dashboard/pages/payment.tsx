import type { ReactElement } from 'react';
import { useAnswer } from '../asking.ts';
import { StatusBadge } from '../kit/badge.tsx';
import { Copyable } from '../kit/copyButton.tsx';
import { groupedAmount, Money } from '../kit/money.tsx';
import { Card, Facts, Notice, Page } from '../kit/page.tsx';
import { Answer, Empty } from '../kit/states.tsx';
import { Table } from '../kit/table.tsx';
import { Time } from '../kit/time.tsx';
import { Link } from '../link.tsx';
import { PaymentActions, Simulate } from '../money/paymentActions.tsx';
import { isOpen, openMs, restMs, type ShownPayment, shown } from '../money/shownPayment.ts';
import { Timeline } from '../money/timeline.tsx';
import { useEnvironment } from '../place.ts';
import { useMay } from '../session.tsx';

const Hash = ({ hash, explorerUrl }: { hash: string | null; explorerUrl: string | null }): ReactElement => {
  if (hash === null) return <span>—</span>;
  return (
    <span className="row">
      <Copyable text={hash} what="transaction" isShort />
      {explorerUrl && (
        <a href={explorerUrl} target="_blank" rel="noreferrer">
          Explorer
        </a>
      )}
    </span>
  );
};

const confirmationsText = ({ confirmations: { current, required } }: ShownPayment): string =>
  required === null
    ? `${current} confirmations. It completes once the network calls the block final.`
    : `${current} of ${required} confirmations of what was asked for.`;

const Transactions = ({ payment }: { payment: ShownPayment }): ReactElement => (
  <Card title="Transactions" lead={confirmationsText(payment)}>
    {payment.transactions.length === 0 ? (
      <Empty title="Nothing has arrived yet" />
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
            cell: ({ from }) => (from === null ? '—' : <Copyable text={from} what="sender's address" isShort />),
          },
          { head: 'Block', cell: ({ blockNumber }) => groupedAmount(String(blockNumber)), align: 'end' },
          { head: 'Confirmations', cell: ({ confirmations }) => groupedAmount(String(confirmations)), align: 'end' },
        ]}
      />
    )}
    {payment.strays.length > 0 && (
      <Notice tone="care">
        <p>
          <strong>Something else arrived at this address.</strong> It does not count towards the payment.
        </p>
        <ul>
          {payment.strays.map(({ hash, contract, caip2, amount }) => (
            <li key={`${hash} ${contract} ${amount}`}>
              {amount} of {contract === null ? `the coin of ${caip2}` : <code>{contract}</code>}{' '}
              {hash && <Copyable text={hash} what="transaction" isShort />}
            </li>
          ))}
        </ul>
      </Notice>
    )}
  </Card>
);

const PaymentFacts = ({ payment, treasury }: { payment: ShownPayment; treasury: string | null }): ReactElement => (
  <Card title="Payment">
    <Facts
      facts={[
        ['Id', <Copyable key="id" text={payment.id} what="payment's id" />],
        ['Asked for', <Money key="amount" amount={payment.amount} currency={payment.currency} />],
        ['Received', <Money key="received" amount={payment.amountReceived} currency={payment.currency} />],
        ['Confirmed', <Money key="confirmed" amount={payment.amountConfirmed} currency={payment.currency} />],
        ['Network', payment.network],
        ['Paid to', <Copyable key="address" text={payment.address} what="address" />],
        ...(treasury
          ? [['Swept to', <Copyable key="treasury" text={treasury} what="treasury address" />] as const]
          : []),
        ['Checkout', <Copyable key="checkout" text={payment.checkoutUrl} what="checkout link" />],
        ['Description', payment.description ?? '—'],
        ['External id', payment.externalId ?? '—'],
        ['Callback', payment.callbackUrl ?? '—'],
        ['Created', <Time key="created" at={payment.createdAt} />],
        ['Expires', <Time key="expires" at={payment.expiresAt} />],
        ...(payment.completedAt ? [['Completed', <Time key="completed" at={payment.completedAt} />] as const] : []),
        ...(payment.canceledAt ? [['Canceled', <Time key="canceled" at={payment.canceledAt} />] as const] : []),
        ...Object.entries(payment.metadata).map(
          ([name, value]) => [`Metadata: ${name}`, <code key={name}>{JSON.stringify(value)}</code>] as const,
        ),
      ]}
    />
  </Card>
);

const Loaded = ({
  payment,
  treasury,
  children,
}: {
  payment: ShownPayment;
  treasury: string | null;
  children: ReactElement;
}): ReactElement => {
  const environment = useEnvironment();
  const networks = useAnswer('GET /networks');
  const maySimulate = useMay('payments.create');
  const isLocal = networks.data?.data.find(({ slug }) => slug === payment.network)?.isLocal ?? false;
  return (
    <>
      <div className="payment-head">
        <p className="payment-amount" aria-live="polite">
          <Money amount={payment.amount} currency={payment.currency} />
          <StatusBadge status={payment.status} />
          {payment.exception && <StatusBadge status={payment.exception} />}
        </p>
        <div className="page-actions">
          <PaymentActions payment={payment} />
        </div>
      </div>
      {environment === 'sandbox' && isLocal && maySimulate && <Simulate payment={payment} />}
      <div className="payment-columns">
        {children}
        <PaymentFacts payment={payment} treasury={treasury} />
      </div>
      <Transactions payment={payment} />
    </>
  );
};

export default function Payment({ params }: { params: Readonly<Record<string, string>> }): ReactElement {
  const answer = useAnswer(
    'GET /payments/:id',
    { params: { id: params.id! } },
    { everyMs: known => (known && !isOpen(shown(known.payment)) ? restMs : openMs) },
  );
  return (
    <Page title="Payment" lead={<Link to="/payments">All payments</Link>}>
      <Answer of={answer} lines={14}>
        {({ payment, treasury, timeline, isCut }) => (
          <Loaded payment={shown(payment)} treasury={treasury}>
            <Card title="Timeline">
              {isCut && (
                <p className="muted">More has happened than is shown here: of each kind, only the newest is.</p>
              )}
              <Timeline entries={timeline} />
            </Card>
          </Loaded>
        )}
      </Answer>
    </Page>
  );
}
