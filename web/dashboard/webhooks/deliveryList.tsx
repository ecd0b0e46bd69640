import { type ReactElement, useState } from 'react';
import type { DeliveryOfPayment as Delivery } from '../../../src/core/api/setupApi.ts';
import { say } from '../kit/announce.tsx';
import { StatusBadge } from '../kit/badge.tsx';
import { Button } from '../kit/button.tsx';
import { Select } from '../kit/field.tsx';
import { Card } from '../kit/page.tsx';
import { Answer, Empty } from '../kit/states.tsx';
import { type Column, Table } from '../kit/table.tsx';
import { Time } from '../kit/time.tsx';
import { Link } from '../link.tsx';
import { useAct, useAnswer } from '../serverCalls.ts';
import { useMay } from '../session.tsx';

const statuses = [
  { value: '', label: 'All statuses' },
  { value: 'scheduled', label: 'Scheduled' },
  { value: 'succeeded', label: 'Succeeded' },
  { value: 'parked', label: 'Given up' },
] as const;
type Status = Exclude<(typeof statuses)[number]['value'], ''>;
const pageSize = 20;
const everyMs = 5_000;

const Resend = ({ delivery }: { delivery: Delivery }): ReactElement => {
  const resend = useAct('POST /deliveries/:id/resend', {
    refresh: ['GET /webhooks/:id/deliveries', 'GET /deliveries/:id'],
  });
  return (
    <Button
      isSmall
      isBusy={resend.isPending}
      aria-label={`Resend ${delivery.type} ${delivery.eventId}`}
      onClick={() =>
        resend.mutate(
          { params: { id: delivery.id } },
          {
            onSuccess: () => say('The event is being sent again.'),
            onError: ({ message }) => say(message, 'bad'),
          },
        )
      }
    >
      Resend
    </Button>
  );
};

const columnsFor = (mayResend: boolean): Column<Delivery>[] => [
  { head: 'Event', cell: ({ id, type }) => <Link to={`/deliveries/${id}`}>{type}</Link> },
  {
    head: 'Payment',
    cell: ({ paymentId }) =>
      paymentId === null ? (
        '—'
      ) : (
        <Link to={`/payments/${paymentId}`}>
          <code>{paymentId}</code>
        </Link>
      ),
  },
  { head: 'Created', cell: ({ createdAt }) => <Time at={createdAt} /> },
  { head: 'Attempts', align: 'end', cell: ({ attempts }) => attempts },
  {
    head: 'Status',
    cell: ({ status, nextAttemptAt }) => (
      <span className="two-lines">
        <span>
          <StatusBadge status={status} />
        </span>
        {status === 'scheduled' && nextAttemptAt && (
          <span className="muted">
            Next attempt <Time at={nextAttemptAt} />
          </span>
        )}
      </span>
    ),
  },
  ...(mayResend
    ? [{ head: 'Actions', isActions: true, cell: (delivery: Delivery) => <Resend delivery={delivery} /> }]
    : []),
];

/** Pages use cursors. The cursors of earlier pages are kept, so that people can go back. */
export const DeliveryList = ({ id }: { id: string }): ReactElement => {
  const [status, setStatus] = useState<Status | ''>('');
  const [cursors, setCursors] = useState<readonly string[]>([]);
  const mayResend = useMay('deliveries.resend');
  const cursor = cursors.at(-1);
  const deliveries = useAnswer(
    'GET /webhooks/:id/deliveries',
    {
      params: { id },
      query: { ...(status === '' ? {} : { status }), limit: pageSize, ...(cursor === undefined ? {} : { cursor }) },
    },
    {
      keepsPrevious: true,
      everyMs: answer => (answer?.data.some(each => each.status === 'scheduled') ? everyMs : false),
    },
  );
  const choose = (chosen: string): void => {
    setStatus(chosen as Status | '');
    setCursors([]);
  };
  return (
    <Card
      title="Deliveries"
      actions={
        <Select
          label="Status"
          isLabelHidden
          options={statuses}
          value={status}
          onChange={event => choose(event.target.value)}
        />
      }
    >
      <Answer of={deliveries}>
        {({ data, pagination }) => (
          <>
            {data.length === 0 ? (
              <Empty title={status === '' ? 'No deliveries yet' : 'No deliveries with this status'}>
                Each event that this endpoint subscribes to creates a delivery. Test events are not listed.
              </Empty>
            ) : (
              <Table caption="Deliveries" columns={columnsFor(mayResend)} rows={data} keyOf={each => each.id} />
            )}
            {(cursors.length > 0 || pagination.hasMore) && (
              <nav className="pagination" aria-label="Pages of deliveries">
                <p>Page {cursors.length + 1}, newest first</p>
                <div className="pagination-buttons">
                  <Button isSmall disabled={cursors.length === 0} onClick={() => setCursors(cursors.slice(0, -1))}>
                    Newer
                  </Button>
                  <Button
                    isSmall
                    disabled={pagination.nextCursor === null}
                    onClick={() => setCursors([...cursors, pagination.nextCursor!])}
                  >
                    Older
                  </Button>
                </div>
              </nav>
            )}
          </>
        )}
      </Answer>
    </Card>
  );
};
