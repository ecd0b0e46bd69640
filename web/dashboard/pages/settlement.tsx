import { type ReactElement, useState } from 'react';
import type { SweepRow, UnsweptRow } from '../../../src/core/dashboard/moneyApi.ts';
import { useAnswer } from '../asking.ts';
import { StatusBadge } from '../kit/badge.tsx';
import { Button } from '../kit/button.tsx';
import { Copyable } from '../kit/copyButton.tsx';
import { groupedAmount, Money } from '../kit/money.tsx';
import { Card, Page } from '../kit/page.tsx';
import { Answer, Empty } from '../kit/states.tsx';
import { type Column, Table } from '../kit/table.tsx';
import { Time } from '../kit/time.tsx';
import { SweepDialog } from '../money/sweepDialog.tsx';
import { useMay } from '../session.tsx';

const refreshMs = 10_000;
const countText = (count: number): string => groupedAmount(String(count));

const gasText = ({ gas }: UnsweptRow): string => {
  if (gas === null) return 'Not known';
  return gas.costNative === null
    ? `${groupedAmount(gas.units)} gas`
    : `${groupedAmount(gas.costNative)} ${gas.nativeCurrency}`;
};

const unsweptColumns = (onSweep: ((row: UnsweptRow) => void) | null): readonly Column<UnsweptRow>[] => [
  { head: 'Amount', cell: ({ amount, currency }) => <Money amount={amount} currency={currency} /> },
  { head: 'Network', cell: ({ network }) => network },
  { head: 'Payments', cell: ({ payments }) => countText(payments), align: 'end' },
  { head: 'Goes to', cell: ({ treasury }) => <Copyable text={treasury} what="treasury address" isShort /> },
  { head: 'Fee, about', cell: gasText, align: 'end' },
  {
    head: 'Sweep',
    isActions: true,
    cell: row =>
      onSweep && (
        <Button
          isSmall
          kind="primary"
          aria-label={`Sweep ${row.currency} on ${row.network}`}
          onClick={() => onSweep(row)}
        >
          Sweep
        </Button>
      ),
  },
];

const sweepColumns: readonly Column<SweepRow>[] = [
  { head: 'Amount', cell: ({ amount, currency }) => <Money amount={amount} currency={currency} /> },
  { head: 'Status', cell: ({ status }) => <StatusBadge status={status} /> },
  { head: 'Network', cell: ({ network }) => network },
  { head: 'Payments', cell: ({ payments }) => countText(payments), align: 'end' },
  {
    head: 'Transaction',
    cell: ({ txHash }) => (txHash === null ? '—' : <Copyable text={txHash} what="transaction" isShort />),
  },
  { head: 'By', cell: ({ by }) => by ?? 'Seen on the chain' },
  { head: 'Sent', cell: ({ createdAt }) => <Time at={createdAt} /> },
  { head: 'Landed', cell: ({ landedAt }) => <Time at={landedAt} /> },
];

export default function Settlement(): ReactElement {
  const settlement = useAnswer('GET /settlement', {}, { everyMs: () => refreshMs });
  const maySweep = useMay('settlement.sweep');
  const [swept, setSwept] = useState<UnsweptRow | null>(null);
  return (
    <Page
      title="Settlement"
      lead="Each payment has an address of its own. A sweep moves what has arrived there to your treasury, signed by your own wallet."
    >
      <Answer of={settlement} lines={10}>
        {({ unswept, sweeps }) => (
          <>
            <Card title="Not swept yet" lead="Confirmed money alone.">
              {unswept.length === 0 ? (
                <Empty title="Nothing waits">What payments bring is shown here once it is confirmed.</Empty>
              ) : (
                <Table
                  caption="Not swept yet"
                  rows={unswept}
                  keyOf={({ network, currency, treasury }) => `${network} ${currency} ${treasury}`}
                  columns={unsweptColumns(maySweep ? setSwept : null)}
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
    </Page>
  );
}
