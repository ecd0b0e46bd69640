import { type ReactElement, useState } from 'react';
import type { Home } from '../../../src/core/api/moneyApi.ts';
import type { Endpoint } from '../../../src/core/api/webhookEndpoint.ts';
import { Badge, StatusBadge } from '../kit/badge.tsx';
import { Button } from '../kit/button.tsx';
import { Card, Page } from '../kit/page.tsx';
import { Answer, Empty } from '../kit/states.tsx';
import { type Column, Table } from '../kit/table.tsx';
import { Link } from '../link.tsx';
import { useAnswer } from '../serverCalls.ts';
import { useMay } from '../session.tsx';
import { CreateEndpoint } from '../webhooks/createEndpoint.tsx';
import { eventsText } from '../webhooks/eventsText.ts';
import { healthCount } from '../webhooks/healthCount.ts';
import { VerifyCode } from '../webhooks/verifyCode.tsx';

type Counts = Home['webhooks']['endpoints'][number];

const Health = ({ counts }: { counts: Counts | undefined }): ReactElement => {
  if (!counts) return <span className="muted">—</span>;
  const { succeeded, retrying, waiting, parked } = counts;
  if (succeeded + retrying + waiting + parked === 0) return <span className="muted">No deliveries</span>;
  const tone = parked > 0 ? 'bad' : retrying > 0 ? 'care' : 'good';
  const word = parked > 0 ? 'Deliveries given up' : retrying > 0 ? 'Retrying' : 'Healthy';
  return (
    <span className="two-lines">
      <span>
        <Badge tone={tone}>{word}</Badge>
      </span>
      <span className="muted">
        {healthCount(counts, 'succeeded')} delivered
        {waiting > 0 && `, ${healthCount(counts, 'waiting')} waiting`}
        {retrying > 0 && `, ${healthCount(counts, 'retrying')} retrying`}
        {parked > 0 && `, ${healthCount(counts, 'parked')} given up`}
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

const Webhooks = (): ReactElement => {
  const endpoints = useAnswer('GET /webhooks');
  // Health always covers seven days. The range only affects figures that are not shown here.
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
      lead="Florin sends each event of a payment to your server as a signed POST request."
      actions={button}
    >
      <Card>
        <Answer of={endpoints}>
          {({ data }) =>
            data.length === 0 ? (
              <Empty title="No endpoints yet" action={button}>
                An endpoint is a URL of your server. It receives the events of all payments, or only the event types you
                choose.
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
};

export default Webhooks;
