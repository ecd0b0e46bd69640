import type { ReactElement } from 'react';
import type { Home as HomeAnswer } from '../../../src/core/dashboard/moneyApi.ts';
import { useAnswer } from '../asking.ts';
import { StatusBadge } from '../kit/badge.tsx';
import { ButtonLink } from '../kit/button.tsx';
import { BarChart } from '../kit/chart.tsx';
import { Select } from '../kit/field.tsx';
import { groupedAmount, Money } from '../kit/money.tsx';
import { Card, Notice, Page } from '../kit/page.tsx';
import { Answer, Empty, Loading } from '../kit/states.tsx';
import { Table } from '../kit/table.tsx';
import { durationText, Time } from '../kit/time.tsx';
import { Link } from '../link.tsx';
import { replaceQuery, useEnvironment, usePlace } from '../place.ts';
import { useMay, useSession } from '../session.tsx';

const ranges = ['7', '30', '90'] as const;
const refreshMs = 15_000;
const sumOf = (counts: readonly number[]): number => counts.reduce((sum, count) => sum + count, 0);
const percent = new Intl.NumberFormat('en-US', { style: 'percent', maximumFractionDigits: 1 });
const countText = (count: number): string => groupedAmount(String(count));

const Tile = ({ name, value, note }: { name: string; value: string; note?: string | undefined }): ReactElement => (
  <div className="tile">
    <dt>{name}</dt>
    <dd>{value}</dd>
    {note && <dd className="tile-note">{note}</dd>}
  </div>
);

const Tiles = ({ home }: { home: HomeAnswer }): ReactElement => {
  const [created, completed] = [sumOf(home.conversion.created), sumOf(home.conversion.completed)];
  const { detectP50, detectP95, completeP50, completeP95, sample } = home.speed;
  const slow = (ms: number | null): string | undefined => (ms === null ? undefined : `95 % within ${durationText(ms)}`);
  return (
    <dl className="tiles">
      <Tile name="Open now" value={countText(home.openNow)} />
      <Tile name="Created" value={countText(created)} note={`${countText(completed)} of them completed`} />
      <Tile name="Conversion" value={created === 0 ? '—' : percent.format(completed / created)} />
      <Tile name="Time to detect" value={durationText(detectP50)} note={slow(detectP95)} />
      <Tile
        name="Time to complete"
        value={durationText(completeP50)}
        note={slow(completeP95) ?? (sample === 0 ? 'None completed yet' : undefined)}
      />
    </dl>
  );
};

const Attention = ({ attention }: { attention: HomeAnswer['attention'] }): ReactElement | null => {
  const present = attention.filter(({ count }) => count > 0);
  if (present.length === 0) return null;
  const to = ({ status, exception }: (typeof present)[number]): string =>
    `/payments?${new URLSearchParams({ ...(status ? { status } : {}), ...(exception ? { exception } : {}) })}`;
  return (
    <Card title="Look at these" lead="They do not end by themselves, or not as they should.">
      <div className="attention">
        {present.map(row => (
          <Link key={`${row.status} ${row.exception}`} to={to(row)}>
            <strong>{countText(row.count)}</strong>
            {[row.status, row.exception].filter(Boolean).join(', ')}
          </Link>
        ))}
      </div>
    </Card>
  );
};

const mostCharts = 6;

const Volumes = ({ home }: { home: HomeAnswer }): ReactElement => {
  const { days, volumes } = home;
  if (volumes.length === 0)
    return (
      <Card title="Volume">
        <Empty title="Nothing was completed in this time" />
      </Card>
    );
  return (
    <div className="chart-cards">
      {volumes.slice(0, mostCharts).map(({ currency, network, total, perDay, count }, index) => (
        <Card
          key={`${currency} ${network}`}
          title={`${currency} on ${network}`}
          lead={
            <>
              <Money amount={total} currency={currency} /> in {countText(count)} {count === 1 ? 'payment' : 'payments'}
            </>
          }
        >
          <BarChart
            label={`Completed volume of ${currency} on ${network} per day: ${groupedAmount(total)} in all`}
            days={days}
            series={[{ name: currency, values: perDay.map(Number), tone: ((index % 4) + 1) as 1 | 2 | 3 | 4 }]}
            textOf={(_, __, day) => groupedAmount(perDay[day]!)}
          />
        </Card>
      ))}
    </div>
  );
};

const Conversion = ({ home }: { home: HomeAnswer }): ReactElement => {
  const { created, completed } = home.conversion;
  return (
    <Card title="Payments per day" lead="By the day they were created; those of the last hours may still be paid.">
      <BarChart
        label={`Payments per day: ${sumOf(created)} created, ${sumOf(completed)} of them completed`}
        days={home.days}
        series={[
          { name: 'Created', values: created, tone: 'calm' },
          { name: 'Completed', values: completed, tone: 1 },
        ]}
        textOf={countText}
      />
    </Card>
  );
};

const Webhooks = ({ webhooks }: { webhooks: HomeAnswer['webhooks'] }): ReactElement => {
  const callbacks = { id: 'callbacks', url: 'callbackUrl of payments', status: '', ...webhooks.callbacks };
  const rows = [...webhooks.endpoints, callbacks];
  return (
    <Card title="Webhooks" lead="Of events of the last 7 days.">
      <Table
        caption="Webhook health"
        rows={rows}
        keyOf={({ id }) => id}
        columns={[
          {
            head: 'Endpoint',
            cell: ({ id, url, status }) =>
              status === '' ? (
                url
              ) : (
                <span className="row">
                  <Link to={`/webhooks/${id}`}>{url}</Link> <StatusBadge status={status} />
                </span>
              ),
          },
          { head: 'Delivered', cell: ({ succeeded }) => countText(succeeded), align: 'end' },
          { head: 'Failed attempts', cell: ({ failed }) => countText(failed), align: 'end' },
          { head: 'Waiting', cell: ({ waiting }) => countText(waiting), align: 'end' },
          { head: 'Given up', cell: ({ parked }) => countText(parked), align: 'end' },
        ]}
      />
    </Card>
  );
};

const Networks = ({ networks }: { networks: HomeAnswer['networks'] }): ReactElement => (
  <Card title="Networks">
    <Table
      caption="Networks"
      rows={networks}
      keyOf={({ slug }) => slug}
      columns={[
        { head: 'Network', cell: ({ name }) => name },
        { head: 'Status', cell: ({ status }) => <StatusBadge status={status} /> },
        {
          head: 'Latest block',
          cell: ({ latestBlock }) => (latestBlock === null ? '—' : countText(latestBlock)),
          align: 'end',
        },
        {
          head: 'Behind',
          cell: ({ lagSeconds }) => (lagSeconds === null ? '—' : durationText(lagSeconds * 1000)),
          align: 'end',
        },
        { head: 'Checked', cell: ({ checkedAt }) => <Time at={checkedAt} none="Never" />, align: 'end' },
      ]}
    />
  </Card>
);

const FirstSteps = (): ReactElement => {
  const environment = useEnvironment();
  const isSandbox = environment === 'sandbox';
  return (
    <Notice>
      <p>
        <strong>{isSandbox ? 'Five minutes to your first test payment.' : 'Nothing live has happened yet.'}</strong>{' '}
        {isSandbox ? 'A key, a webhook, a wallet, a payment: step by step.' : 'The checklist says what is missing.'}
      </p>
      <div>
        {isSandbox ? (
          <ButtonLink to="/start" kind="primary">
            Start
          </ButtonLink>
        ) : (
          <ButtonLink to="/go-live" kind="primary">
            Go live
          </ButtonLink>
        )}
      </div>
    </Notice>
  );
};

export default function Home(): ReactElement {
  const { query } = usePlace();
  const { account, needsSecondFactor } = useSession();
  const mayBuild = useMay('keys.manage');
  const days = ranges.find(each => each === query.get('days')) ?? '30';
  const home = useAnswer(
    'GET /home',
    { query: { days: Number(days) } },
    { keepsPrevious: true, everyMs: () => refreshMs },
  );
  return (
    <Page
      title="Home"
      lead={account.name}
      actions={
        <Select
          label="Time shown"
          isLabelHidden
          value={days}
          onChange={event => replaceQuery(new URLSearchParams({ days: event.target.value }))}
          options={ranges.map(value => ({ value, label: `Last ${value} days` }))}
        />
      }
    >
      {needsSecondFactor && (
        <Notice tone="care">
          <p>
            <strong>Nobody here has a second factor yet.</strong>{' '}
            <Link to="/account">Add a passkey or an authenticator</Link>.
          </p>
        </Notice>
      )}
      <Answer of={home} loading={<Loading lines={14} />}>
        {answer => (
          <>
            {mayBuild && sumOf(answer.conversion.completed) === 0 && <FirstSteps />}
            <Tiles home={answer} />
            <Attention attention={answer.attention} />
            <Volumes home={answer} />
            <Conversion home={answer} />
            <Webhooks webhooks={answer.webhooks} />
            <Networks networks={answer.networks} />
          </>
        )}
      </Answer>
    </Page>
  );
}
