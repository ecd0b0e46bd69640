import { type ReactElement, useState } from 'react';
import type { FundsDifference, SweepRow, UnclaimedFunds, UnsweptRow } from '../../../src/core/api/moneyApi.ts';
import { StatusBadge } from '../kit/badge.tsx';
import { Button } from '../kit/button.tsx';
import { Copyable } from '../kit/copyButton.tsx';
import { groupedAmount, Money } from '../kit/money.tsx';
import { networkName } from '../kit/networkName.ts';
import { Card, Page } from '../kit/page.tsx';
import { Answer, Empty } from '../kit/states.tsx';
import { type Column, Table } from '../kit/table.tsx';
import { Time } from '../kit/time.tsx';
import { Link } from '../link.tsx';
import { feeText } from '../money/feeText.ts';
import { SweepDialog } from '../money/sweepDialog.tsx';
import { useAnswer } from '../serverCalls.ts';
import { useMay } from '../session.tsx';
import { ConfirmTreasury } from '../wallets/confirmTreasury.tsx';

const refreshMs = 10_000;

type Held = Pick<UnsweptRow, 'amount' | 'currency' | 'network' | 'payments'> &
  Partial<Pick<UnsweptRow, 'strays' | 'refusal'>>;

/** Amount, payments and network share a cell, so that the tables fit a tablet. */
const HeldCell = ({ amount, currency, network, payments, strays = 0, refusal }: Held): ReactElement => (
  <span className="two-lines">
    <Money amount={amount} currency={currency} />
    <span className="muted">
      {groupedAmount(String(payments))} {payments === 1 ? 'payment' : 'payments'} on {networkName(network)}
      {strays > 0 && `, ${groupedAmount(String(strays))} in a wrong token or on a wrong network`}
    </span>
    {refusal && <span>{refusal}</span>}
  </span>
);

type Choose = ((row: UnsweptRow) => void) | null;

const unsweptColumns = (onSweep: Choose, onConfirm: Choose): readonly Column<UnsweptRow>[] => [
  { head: 'Amount', cell: HeldCell },
  { head: 'Treasury', cell: ({ treasury }) => <Copyable text={treasury} what="treasury address" isShort /> },
  {
    head: 'Estimated fee',
    cell: row => (row.refusal === null ? <span className="money">{feeText(row)}</span> : '—'),
    align: 'end',
  },
  {
    head: 'Actions',
    isActions: true,
    cell: row => {
      const what = `${row.currency} on ${networkName(row.network)}`;
      if (row.isConfirmable && onConfirm)
        return (
          <Button isSmall aria-label={`Confirm the treasury of ${what}`} onClick={() => onConfirm(row)}>
            Confirm
          </Button>
        );
      if (row.refusal !== null || !onSweep) return null;
      return (
        <Button isSmall kind="primary" aria-label={`Sweep ${what}`} onClick={() => onSweep(row)}>
          Sweep
        </Button>
      );
    },
  },
];

const sweepColumns: readonly Column<SweepRow>[] = [
  { head: 'Amount', cell: HeldCell },
  { head: 'Status', cell: ({ status }) => <StatusBadge status={status} /> },
  {
    head: 'Transaction',
    cell: ({ txHash }) => (txHash === null ? '—' : <Copyable text={txHash} what="transaction" isShort />),
  },
  {
    head: 'Sent',
    cell: ({ createdAt, by }) => (
      <span className="two-lines">
        <Time at={createdAt} />
        <span className="muted">{by === null ? 'Found on the network' : `By ${by}`}</span>
      </span>
    ),
  },
  { head: 'Landed', cell: ({ landedAt }) => <Time at={landedAt} /> },
];

const unclaimedColumns: readonly Column<UnclaimedFunds>[] = [
  {
    head: 'Amount',
    cell: ({ amount, network }) => (
      <span className="two-lines">
        <span>{amount}</span>
        <span className="muted">{network}</span>
      </span>
    ),
  },
  { head: 'Address', cell: ({ address }) => <Copyable text={address} what="address" isShort /> },
  {
    head: 'Transaction',
    cell: ({ txHash }) => (txHash === null ? '—' : <Copyable text={txHash} what="transaction" isShort />),
  },
  { head: 'Received', cell: ({ at }) => <Time at={at} /> },
];

/** Shown only after a restore. */
const Unclaimed = ({ funds }: { funds: readonly UnclaimedFunds[] }): ReactElement => (
  <Card
    title="Unclaimed funds"
    lead="This money arrived for payments that were lost when a backup was restored. It is not credited to any payment. Ask the payer for the order. An address of your extended public key is in your own wallet. For the others, ask your operator for a new recovery file (“florin export recovery”): its script sweeps them to your treasury."
  >
    <Table
      caption="Unclaimed funds"
      rows={funds}
      // Coin without a transaction can arrive twice with the same amount, so nothing in a row is unique.
      keyOf={row => String(funds.indexOf(row))}
      columns={unclaimedColumns}
    />
  </Card>
);

const differenceColumns: readonly Column<FundsDifference>[] = [
  {
    head: 'Difference',
    cell: ({ amount, network }) => (
      <span className="two-lines">
        <span>{amount.startsWith('-') ? amount : `+${amount}`}</span>
        <span className="muted">{network}</span>
      </span>
    ),
  },
  { head: 'Payment', cell: ({ paymentId }) => <Link to={`/payments/${paymentId}`}>{paymentId}</Link> },
  { head: 'Address', cell: ({ address }) => <Copyable text={address} what="address" isShort /> },
  { head: 'Found', cell: ({ at }) => <Time at={at} /> },
];

/** Shown only while there are any. */
const Differences = ({ differences }: { differences: readonly FundsDifference[] }): ReactElement => (
  <Card
    title="Differences with the blockchain"
    lead="These addresses hold more (+) or less (-) than the recorded transfers say. Nothing is credited. Look up the address in a block explorer, and ask your operator to run “florin ledger differences”."
  >
    <Table
      caption="Differences with the blockchain"
      rows={differences}
      keyOf={({ paymentId, network, amount }) => `${paymentId} ${network} ${amount}`}
      columns={differenceColumns}
    />
  </Card>
);

const Settlement = (): ReactElement => {
  const settlement = useAnswer('GET /settlement', {}, { everyMs: () => refreshMs });
  const maySweep = useMay('settlement.sweep');
  const mayConfirm = useMay('wallets.manage');
  const [swept, setSwept] = useState<UnsweptRow | null>(null);
  const [confirmed, setConfirmed] = useState<UnsweptRow | null>(null);
  return (
    <Page
      title="Settlement"
      lead="Each payment has its own address. A sweep moves the money from these addresses to your treasury. You sign it with your own wallet."
    >
      <Answer of={settlement} lines={10}>
        {({ unswept, sweeps, unclaimed, differences }) => (
          <>
            {differences.length > 0 && <Differences differences={differences} />}
            {unclaimed.length > 0 && <Unclaimed funds={unclaimed} />}
            <Card title="Not swept yet" lead="Confirmed money that is not in your treasury yet.">
              {unswept.length === 0 ? (
                <Empty title="Nothing to sweep">Money appears here once it is confirmed.</Empty>
              ) : (
                <Table
                  caption="Not swept yet"
                  rows={unswept}
                  keyOf={({ network, caip2, currency, contractAddress, treasury, refusal }) =>
                    `${network} ${caip2} ${currency} ${contractAddress} ${treasury} ${refusal}`
                  }
                  columns={unsweptColumns(maySweep ? setSwept : null, mayConfirm ? setConfirmed : null)}
                />
              )}
            </Card>
            <Card title="Sweeps">
              {sweeps.length === 0 ? (
                <Empty title="No sweeps yet" />
              ) : (
                <Table caption="Sweeps" rows={sweeps} keyOf={({ id }) => id} columns={sweepColumns} />
              )}
            </Card>
          </>
        )}
      </Answer>
      {swept && <SweepDialog row={swept} onClose={() => setSwept(null)} />}
      {confirmed && <ConfirmTreasury row={confirmed} onClose={() => setConfirmed(null)} />}
    </Page>
  );
};

export default Settlement;
