import type { ReactElement } from 'react';
import type { Home } from '../../../src/core/api/moneyApi.ts';
import { countedDeliveries } from '../../../src/core/webhookHealth.ts';
import { StatusBadge } from '../kit/badge.tsx';
import { networkName } from '../kit/networkName.ts';
import { Card } from '../kit/page.tsx';
import { Table } from '../kit/table.tsx';
import { durationText, Time } from '../kit/time.tsx';
import { Link } from '../link.tsx';
import { healthCount } from '../webhooks/healthCount.ts';
import { countText } from './charts.tsx';

export const Webhooks = ({ webhooks }: { webhooks: Home['webhooks'] }): ReactElement => (
  <Card title="Webhooks" lead="Deliveries of the last 7 days.">
    <Table
      caption="Webhook deliveries"
      rows={[...webhooks.endpoints, { id: 'callbacks', url: '', status: '', ...webhooks.callbacks }]}
      keyOf={({ id }) => id}
      columns={[
        {
          head: 'Endpoint',
          cell: ({ id, url, status }) =>
            status === '' ? (
              <span className="two-lines">
                <span>Callback URLs of payments</span>
                <span className="muted">{`Among the newest ${countText(countedDeliveries)} deliveries`}</span>
              </span>
            ) : (
              <span className="row">
                <Link to={`/webhooks/${id}`}>{url}</Link> <StatusBadge status={status} />
              </span>
            ),
        },
        { head: 'Delivered', cell: health => healthCount(health, 'succeeded'), align: 'end' },
        { head: 'Waiting', cell: health => healthCount(health, 'waiting'), align: 'end' },
        { head: 'Retrying', cell: health => healthCount(health, 'retrying'), align: 'end' },
        { head: 'Given up', cell: health => healthCount(health, 'parked'), align: 'end' },
        { head: 'Failed attempts', cell: health => healthCount(health, 'failedAttempts'), align: 'end' },
      ]}
    />
  </Card>
);

type Network = Home['networks'][number];

/** A network has one name in both environments. The name of a test chain is shown below it. */
const NetworkCell = ({ slug, name, backing }: Network): ReactElement => (
  <span className="two-lines">
    <span>{networkName(slug)}</span>
    {backing !== 'mainnet' && <span className="muted">{backing === 'devchain' ? 'Local test chain' : name}</span>}
  </span>
);

export const Networks = ({ networks }: { networks: Home['networks'] }): ReactElement => (
  <Card title="Networks">
    <Table
      caption="Networks"
      rows={networks}
      keyOf={({ slug }) => slug}
      columns={[
        { head: 'Network', cell: NetworkCell },
        { head: 'Status', cell: ({ status }) => <StatusBadge status={status} /> },
        {
          head: 'Latest block',
          cell: ({ latestBlock }) => (latestBlock === null ? '—' : countText(latestBlock)),
          align: 'end',
        },
        {
          head: 'Behind by',
          cell: ({ lagSeconds }) =>
            lagSeconds === null ? '—' : lagSeconds === 0 ? 'Up to date' : durationText(lagSeconds * 1000),
          align: 'end',
        },
        { head: 'Last checked', cell: ({ checkedAt }) => <Time at={checkedAt} none="Never" />, align: 'end' },
      ]}
    />
  </Card>
);
