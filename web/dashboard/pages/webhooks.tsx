import { type ReactElement, useState } from 'react';
import type { Home } from '../../../src/core/dashboard/moneyApi.ts';
import type { Endpoint } from '../../../src/core/dashboard/setupApi.ts';
import { useAnswer } from '../asking.ts';
import { Badge, StatusBadge } from '../kit/badge.tsx';
import { Button } from '../kit/button.tsx';
import { Card, Page } from '../kit/page.tsx';
import { Answer, Empty } from '../kit/states.tsx';
import { type Column, Table } from '../kit/table.tsx';
import { Link } from '../link.tsx';
import { useMay } from '../session.tsx';
import { CreateEndpoint } from '../webhooks/createEndpoint.tsx';
import { eventsText } from '../webhooks/eventText.ts';
import { VerifyCode } from '../webhooks/verifyCode.tsx';

type Counts = Home['webhooks']['endpoints'][number];
/** Further than this nobody counts. */
const mostCounted = 1_000;
const countText = (count: number): string => (count >= mostCounted ? '1,000 or more' : String(count));

const Health = ({ counts }: { counts: Counts | undefined }): ReactElement => {
  if (!counts) return <span className="muted">—</span>;
  const { succeeded, failed, waiting, parked } = counts;
  if (succeeded + failed + waiting + parked === 0) return <span className="muted">Nothing sent</span>;
  const tone = parked > 0 ? 'bad' : failed > 0 ? 'care' : 'good';
  const word = parked > 0 ? 'Losing events' : failed > 0 ? 'Some attempts fail' : 'Well';
  return (
    <span className="two-lines">
      <span>
        <Badge tone={tone}>{word}</Badge>
      </span>
      <span className="muted">
        {countText(succeeded)} delivered{waiting > 0 && `, ${countText(waiting)} waiting`}
        {parked > 0 && `, ${countText(parked)} given up`}
      </span>
    </span>
  );
};

const columnsWith = (counts: readonly Counts[] | undefined): Column<Endpoint>[] => [
  {
    head: 'Endpoint',
    cell: ({ id, url, description }) => (
      <span className="two-lines">
        <Link to={`/webhooks/${id}`}>{url}</Link>
        {description && <span className="muted">{description}</span>}
      </span>
    ),
  },
  { head: 'Events', cell: ({ events }) => <span title={events.join(', ')}>{eventsText(events)}</span> },
  {
    head: 'Last 7 days',
    cell: ({ id }) => <Health counts={counts?.find(each => each.id === id)} />,
  },
  {
    head: 'Status',
    cell: ({ status, disabledReason }) => (
      <span className="two-lines">
        <span>
          <StatusBadge status={status} />
        </span>
        {disabledReason && <span className="muted">{disabledReason}</span>}
      </span>
    ),
  },
];

export default function Webhooks(): ReactElement {
  const endpoints = useAnswer('GET /webhooks');
  // Health is always that of seven days; the one day is of the figures that are not shown here.
  const home = useAnswer('GET /home', { query: { days: 1 } });
  const [isCreating, create] = useState(false);
  const mayManage = useMay('webhooks.manage');
  const button = mayManage && (
    <Button kind="primary" icon="plus" onClick={() => create(true)}>
      Add an endpoint
    </Button>
  );
  return (
    <Page
      title="Webhooks"
      lead="Florin tells your server what becomes of a payment by a signed POST for each event."
      actions={button}
    >
      <Card>
        <Answer of={endpoints}>
          {({ data }) =>
            data.length === 0 ? (
              <Empty title="No endpoints yet" action={button}>
                An endpoint is an address of your server that gets the events of all payments, or some kinds of them.
              </Empty>
            ) : (
              <Table
                caption="Endpoints"
                columns={columnsWith(home.data?.webhooks.endpoints)}
                rows={data}
                keyOf={({ id }) => id}
              />
            )
          }
        </Answer>
      </Card>
      <VerifyCode />
      <CreateEndpoint isOpen={isCreating} onClose={() => create(false)} />
    </Page>
  );
}
