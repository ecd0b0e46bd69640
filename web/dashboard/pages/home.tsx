import type { ReactElement } from 'react';
import type { Home as HomeAnswer } from '../../../src/core/api/moneyApi.ts';
import { Backups, LateBackups } from '../home/backups.tsx';
import { Conversion, countText, sumOf, Volumes } from '../home/charts.tsx';
import { Networks, Webhooks } from '../home/health.tsx';
import { ButtonLink } from '../kit/button.tsx';
import { Select } from '../kit/field.tsx';
import { Icon } from '../kit/icon.tsx';
import { Card, Notice, Page } from '../kit/page.tsx';
import { Answer, Loading } from '../kit/states.tsx';
import { durationText } from '../kit/time.tsx';
import { Link } from '../link.tsx';
import { issues } from '../money/paymentBadges.tsx';
import { replaceQuery, useEnvironment, usePageLocation } from '../pageLocation.ts';
import { useAnswer } from '../serverCalls.ts';
import { useMay, useSession } from '../session.tsx';

const ranges = ['7', '30', '90'] as const;
const refreshMs = 15_000;
const percent = new Intl.NumberFormat('en-US', { style: 'percent', maximumFractionDigits: 1 });

const Tile = ({ name, value, note }: { name: string; value: string; note?: string | undefined }): ReactElement => (
  <div className="tile">
    <dt>{name}</dt>
    <dd>{value}</dd>
    {note && <dd className="tile-note">{note}</dd>}
  </div>
);

const speedNote = (p95: number | null): string =>
  p95 === null ? 'No payments completed yet' : `Median since the payer’s block. 95% within ${durationText(p95)}.`;

const Tiles = ({ home }: { home: HomeAnswer }): ReactElement => {
  const [created, completed] = [sumOf(home.conversion.created), sumOf(home.conversion.completed)];
  const { detectP50, detectP95, completeP50, completeP95 } = home.speed;
  return (
    <dl className="tiles">
      <Tile name="Open now" value={countText(home.openNow)} note="Pending or confirming" />
      <Tile name="Created" value={countText(created)} note={`${countText(completed)} of them completed`} />
      <Tile name="Conversion" value={created === 0 ? '—' : percent.format(completed / created)} />
      <Tile name="Time to detect" value={durationText(detectP50)} note={speedNote(detectP95)} />
      <Tile name="Time to complete" value={durationText(completeP50)} note={speedNote(completeP95)} />
    </dl>
  );
};

/** The words of the badges and the filter. */
const issueText = (exception: string): string =>
  (issues.find(({ value }) => value === exception)?.label ?? exception).toLowerCase();

type AttentionRow = HomeAnswer['attention'][number];
const attentionText = ({ status, exception }: AttentionRow): string =>
  status === 'reversed' ? 'reversed' : `${issueText(exception)} (${status})`;
const attentionLink = ({ status, exception }: AttentionRow): string =>
  `/payments?${new URLSearchParams({ ...(status ? { status } : {}), ...(exception ? { exception } : {}) })}`;

/** The server counts up to here. */
const countedDifferences = 100;

const Differences = ({ count }: { count: number }): ReactElement => {
  const mayOpen = useMay('settlement.read');
  const text = (
    <>
      <Icon name="warning" />
      <strong>{count >= countedDifferences ? `${countedDifferences}+` : countText(count)}</strong>
      {count === 1 ? 'difference' : 'differences'} with the blockchain
    </>
  );
  return mayOpen ? <Link to="/settlement">{text}</Link> : <span className="attention-text">{text}</span>;
};

const Attention = ({ attention, differences }: HomeAnswer): ReactElement | null => {
  const present = attention.filter(({ count }) => count > 0);
  if (present.length === 0 && differences === 0) return null;
  return (
    <Card title="Needs attention" lead="Payments with a problem that somebody should check.">
      <div className="attention">
        {differences > 0 && <Differences count={differences} />}
        {present.map(row => (
          <Link key={`${row.status} ${row.exception}`} to={attentionLink(row)}>
            <Icon name="warning" />
            <strong>{countText(row.count)}</strong>
            {attentionText(row)}
          </Link>
        ))}
      </div>
    </Card>
  );
};

const FirstSteps = (): ReactElement => {
  const isSandbox = useEnvironment() === 'sandbox';
  return (
    <Notice>
      <p>
        <strong>{isSandbox ? 'Make your first test payment in five minutes.' : 'No live payments yet.'}</strong>{' '}
        {isSandbox
          ? 'Create an API key, a webhook and a payment, step by step.'
          : 'The checklist shows what is missing before you can take live payments.'}
      </p>
      <div>
        {isSandbox ? (
          <ButtonLink to="/start" kind="primary">
            Get started
          </ButtonLink>
        ) : (
          <ButtonLink to="/go-live" kind="primary">
            Open the checklist
          </ButtonLink>
        )}
      </div>
    </Notice>
  );
};

const Home = (): ReactElement => {
  const { query } = usePageLocation();
  const { account, needsSecondFactor } = useSession();
  const mayBuild = useMay('keys.manage');
  const mayReadBackups = useMay('backups.read');
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
          label="Date range"
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
            <strong>Nobody on the team has a second factor yet.</strong>{' '}
            <Link to="/account">Add a passkey or an authenticator app</Link>.
          </p>
        </Notice>
      )}
      <Answer of={home} loading={<Loading lines={14} />}>
        {answer => (
          <>
            {mayBuild && sumOf(answer.conversion.completed) === 0 && <FirstSteps />}
            <Tiles home={answer} />
            <Attention {...answer} />
            {mayReadBackups && <LateBackups />}
            <Volumes home={answer} />
            <Conversion home={answer} />
            <Webhooks webhooks={answer.webhooks} />
            <Networks networks={answer.networks} />
            {mayReadBackups && <Backups />}
          </>
        )}
      </Answer>
    </Page>
  );
};

export default Home;
