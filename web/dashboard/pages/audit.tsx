import { useInfiniteQuery } from '@tanstack/react-query';
import type { ReactElement } from 'react';
import type { AnswerOf } from '../../../src/core/api/dashboardApi.ts';
import type { AuditRow } from '../../../src/core/api/teamApi.ts';
import { auditChoices, auditText } from '../audit/auditText.ts';
import { type CallError, call } from '../client.ts';
import { Badge } from '../kit/badge.tsx';
import { Button } from '../kit/button.tsx';
import { CodeBlock } from '../kit/codeBlock.tsx';
import { Select } from '../kit/field.tsx';
import { Card, Facts, Page } from '../kit/page.tsx';
import { Empty, ErrorBox, Loading } from '../kit/states.tsx';
import { Time } from '../kit/time.tsx';
import { replaceQuery, useEnvironment, usePageLocation } from '../pageLocation.ts';
import { useAnswer } from '../serverCalls.ts';

const pageSize = 50;
type Filter = { action: string; actor: string };
type AuditPage = AnswerOf<'GET /audit'>;

const useAudit = ({ action, actor }: Filter) => {
  const environment = useEnvironment();
  return useInfiniteQuery<AuditPage, CallError, { pages: AuditPage[] }, readonly unknown[], string | null>({
    queryKey: ['GET /audit', environment, action, actor],
    initialPageParam: null,
    queryFn: ({ pageParam, signal }) =>
      call('GET /audit', {
        query: {
          limit: pageSize,
          ...(action ? { action } : {}),
          ...(actor ? { actor } : {}),
          ...(pageParam === null ? {} : { before: pageParam }),
        },
        environment,
        signal,
      }),
    getNextPageParam: ({ next }) => next,
  });
};

const environmentBadge = (environment: AuditRow['environment']): ReactElement | null =>
  environment === null ? null : (
    <Badge tone={environment === 'sandbox' ? 'care' : 'good'}>{environment === 'sandbox' ? 'Test' : 'Live'}</Badge>
  );

const AuditItem = ({ row }: { row: AuditRow }): ReactElement => (
  <li>
    <details className="attempt">
      <summary>
        <span className="audit-sentence">
          <strong>{row.actor.name}</strong> {auditText(row)}
        </span>
        {environmentBadge(row.environment)}
        <span className="muted">
          <Time at={row.at} />
        </span>
      </summary>
      <div className="stack">
        <Facts
          facts={[
            ['Number', row.id],
            ['Action', <code key="action">{row.action}</code>],
            ['Subject', row.subject === null ? '—' : <code key="subject">{row.subject}</code>],
            ['IP address', row.address ?? '—'],
          ]}
        />
        <CodeBlock code={JSON.stringify(row.detail, null, 2)} label="Details" />
      </div>
    </details>
  </li>
);

const Filters = ({ filter }: { filter: Filter }): ReactElement => {
  const team = useAnswer('GET /team');
  const set = (name: keyof Filter, value: string): void =>
    replaceQuery(new URLSearchParams(Object.entries({ ...filter, [name]: value }).filter(([, each]) => each !== '')));
  return (
    <div className="filters-row">
      <Select
        label="Action"
        value={filter.action}
        onChange={event => set('action', event.target.value)}
        options={[{ value: '', label: 'All actions' }, ...auditChoices]}
      />
      <Select
        label="Person"
        value={filter.actor}
        onChange={event => set('actor', event.target.value)}
        options={[
          { value: '', label: 'Everyone' },
          ...(team.data?.members ?? []).map(({ id, name }) => ({ value: id, label: name })),
        ]}
      />
    </div>
  );
};

const Rows = ({ filter }: { filter: Filter }): ReactElement => {
  const audit = useAudit(filter);
  const rows = audit.data?.pages.flatMap(({ data }) => data);
  if (rows === undefined)
    return audit.isError ? <ErrorBox error={audit.error} onRetry={audit.refetch} /> : <Loading lines={10} />;
  if (rows.length === 0)
    return (
      <Empty title="No entries">The log records changes by people, by the command line and by Florin itself.</Empty>
    );
  return (
    <>
      <ol className="ruled">
        {rows.map(row => (
          <AuditItem key={row.id} row={row} />
        ))}
      </ol>
      {audit.isError && <ErrorBox error={audit.error} onRetry={audit.refetch} />}
      {audit.hasNextPage && (
        <div className="row">
          <Button isBusy={audit.isFetchingNextPage} onClick={() => void audit.fetchNextPage()}>
            Show older entries
          </Button>
        </div>
      )}
    </>
  );
};

const Audit = (): ReactElement => {
  const { query } = usePageLocation();
  const filter = { action: query.get('action') ?? '', actor: query.get('actor') ?? '' };
  return (
    <Page
      title="Audit log"
      lead="Who changed what in test and live, newest first. The entries form a hash chain: the command “florin doctor” detects any later change."
    >
      <Card>
        <Filters filter={filter} />
        <Rows filter={filter} />
      </Card>
    </Page>
  );
};

export default Audit;
