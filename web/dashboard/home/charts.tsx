import { type ReactElement, useState } from 'react';
import type { Home } from '../../../src/core/api/moneyApi.ts';
import { Button } from '../kit/button.tsx';
import { BarChart } from '../kit/chart.tsx';
import { currencyTone } from '../kit/currencyTone.ts';
import { groupedAmount, Money } from '../kit/money.tsx';
import { networkName } from '../kit/networkName.ts';
import { Card } from '../kit/page.tsx';
import { Empty } from '../kit/states.tsx';
import { Table } from '../kit/table.tsx';

export const countText = (count: number): string => groupedAmount(String(count));
export const sumOf = (counts: readonly number[]): number => counts.reduce((sum, count) => sum + count, 0);

type Volume = Home['volumes'][number];
const firstCharts = 6;
const keyOf = ({ currency, network }: Volume): string => `${currency} ${network}`;
const nameOf = ({ currency, network }: Volume): string => `${currency} on ${networkName(network)}`;

const VolumeChart = ({ volume, days }: { volume: Volume; days: readonly string[] }): ReactElement => {
  const { currency, total, perDay, count } = volume;
  const name = nameOf(volume);
  return (
    <Card
      title={name}
      lead={
        <>
          <Money amount={total} currency={currency} /> in {countText(count)} {count === 1 ? 'payment' : 'payments'}
        </>
      }
    >
      <BarChart
        label={`Completed volume of ${name} per day: ${groupedAmount(total)} in total`}
        days={days}
        series={[{ name: currency, values: perDay.map(Number), tone: currencyTone(currency) }]}
        textOf={(_, __, day) => groupedAmount(perDay[day]!)}
      />
    </Card>
  );
};

const OtherVolumes = ({ volumes, onShow }: { volumes: readonly Volume[]; onShow: () => void }): ReactElement => (
  <Card title="More currencies and networks" actions={<Button onClick={onShow}>Show all charts</Button>}>
    <Table
      caption="More currencies and networks"
      rows={volumes}
      keyOf={keyOf}
      columns={[
        {
          head: 'Currency',
          cell: volume => (
            <span className={`currency-dot chart-${currencyTone(volume.currency)}`}>{nameOf(volume)}</span>
          ),
        },
        {
          head: 'Volume',
          cell: ({ total, currency }) => <Money amount={total} currency={currency} />,
          align: 'end',
        },
        { head: 'Payments', cell: ({ count }) => countText(count), align: 'end' },
      ]}
    />
  </Card>
);

/** Amounts of different currencies cannot be compared, so the currencies with the most payments come first. */
export const Volumes = ({ home: { days, volumes } }: { home: Home }): ReactElement => {
  const [showsAll, setShowsAll] = useState(false);
  if (volumes.length === 0)
    return (
      <Card title="Volume">
        <Empty title="No payments were completed in this time" />
      </Card>
    );
  const sorted = volumes.toSorted((a, b) => b.count - a.count);
  const others = showsAll ? [] : sorted.slice(firstCharts);
  return (
    <>
      <div className="chart-cards">
        {sorted.slice(0, showsAll ? undefined : firstCharts).map(volume => (
          <VolumeChart key={keyOf(volume)} volume={volume} days={days} />
        ))}
      </div>
      {others.length > 0 && <OtherVolumes volumes={others} onShow={() => setShowsAll(true)} />}
    </>
  );
};

export const Conversion = ({ home }: { home: Home }): ReactElement => {
  const { created, completed } = home.conversion;
  return (
    <Card
      title="Payments per day"
      lead="By the day they were created. Payments of the last hours may still be completed."
    >
      <BarChart
        label={`Payments per day: ${sumOf(created)} created, ${sumOf(completed)} of them completed`}
        days={home.days}
        series={[
          { name: 'Created', values: created, tone: 'calm' },
          { name: 'Completed', values: completed, tone: 'good' },
        ]}
        textOf={countText}
        isCount
      />
    </Card>
  );
};
