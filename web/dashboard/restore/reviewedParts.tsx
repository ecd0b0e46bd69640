import type { ReactElement, ReactNode } from 'react';
import { permissions } from '../../../src/core/access/rights.ts';
import type { ApiKey, Wallet } from '../../../src/core/api/setupApi.ts';
import type { Invitation, Member } from '../../../src/core/api/teamApi.ts';
import type { Endpoint } from '../../../src/core/api/webhookEndpoint.ts';
import type { Environment } from '../../../src/core/environment.ts';
import { permissionText } from '../keys/permissionText.ts';
import { Badge, StatusBadge } from '../kit/badge.tsx';
import { networkName } from '../kit/networkName.ts';
import { Card } from '../kit/page.tsx';
import { Answer } from '../kit/states.tsx';
import { type Column, Table } from '../kit/table.tsx';
import { Time } from '../kit/time.tsx';
import { AppLink } from '../link.tsx';
import { hrefIn } from '../pageLocation.ts';
import { roleNames } from '../roleNames.ts';
import { useAnswer } from '../serverCalls.ts';
import { useMay } from '../session.tsx';

/** What a restored copy may have brought back, each with the page on which it is changed. */

const Part = ({
  title,
  lead,
  environment = 'production',
  to,
  link,
  children,
}: {
  title: string;
  lead: string;
  environment?: Environment;
  to: string;
  link: string;
  children: ReactNode;
}): ReactElement => (
  <Card
    title={title}
    lead={lead}
    actions={
      <AppLink className="button button-plain" href={hrefIn(environment, to)}>
        {link}
      </AppLink>
    }
  >
    {children}
  </Card>
);

const None = ({ children }: { children: ReactNode }): ReactElement => <p className="muted">{children}</p>;

const Lines = ({ first, second }: { first: ReactNode; second: ReactNode }): ReactElement => (
  <span className="two-lines">
    <strong>{first}</strong>
    <span className="muted">{second}</span>
  </span>
);

const keyColumns: readonly Column<ApiKey>[] = [
  { head: 'Key', cell: ({ name, hint }) => <Lines first={name} second={<code>{hint}</code>} /> },
  {
    head: 'Permissions',
    cell: ({ scopes }) =>
      scopes.length === permissions.length
        ? 'All permissions'
        : scopes.map(each => permissionText[each].label).join(', '),
  },
  { head: 'Created', cell: ({ createdAt }) => <Time at={createdAt} /> },
  { head: 'Last used', cell: ({ lastUsedAt }) => <Time at={lastUsedAt} none="Never" /> },
];

const doesWork = ({ status }: ApiKey): boolean => status === 'active' || status === 'rotating';

const KeyTable = ({ environment, caption }: { environment: Environment; caption: string }): ReactElement => {
  const keys = useAnswer('GET /keys', { environment });
  return (
    <Answer of={keys} lines={2}>
      {({ data }) => {
        const working = data.filter(doesWork);
        return working.length === 0 ? (
          <None>No key works.</None>
        ) : (
          <Table caption={caption} columns={keyColumns} rows={working} keyOf={({ id }) => id} />
        );
      }}
    </Answer>
  );
};

const ReviewedKeys = ({ environment }: { environment: Environment }): ReactElement => {
  const title = environment === 'production' ? 'Live API keys' : 'Test API keys';
  return (
    <Part
      title={title}
      lead="Revoke keys that were revoked after the backup, and keys that nobody knows."
      environment={environment}
      to="/keys"
      link={environment === 'production' ? 'Change live keys' : 'Change test keys'}
    >
      <KeyTable environment={environment} caption={title} />
    </Part>
  );
};

const memberColumns: readonly Column<Member>[] = [
  { head: 'Member', cell: ({ name, email }) => <Lines first={name} second={email} /> },
  { head: 'Role', cell: ({ role }) => roleNames[role] },
  {
    head: 'Second factor',
    cell: ({ hasSecondFactor }) => (
      <Badge tone={hasSecondFactor ? 'good' : 'care'}>{hasSecondFactor ? 'Yes' : 'No'}</Badge>
    ),
  },
  { head: 'Joined', cell: ({ createdAt }) => <Time at={createdAt} /> },
];

const invitationColumns: readonly Column<Invitation>[] = [
  { head: 'Invited', cell: ({ email }) => email },
  { head: 'Role', cell: ({ role }) => roleNames[role] },
  { head: 'Expires', cell: ({ expiresAt }) => <Time at={expiresAt} /> },
];

const ReviewedMembers = (): ReactElement => {
  const team = useAnswer('GET /team');
  return (
    <Part
      title="Members"
      lead="Remove members who left after the backup, and withdraw invitations. Roles are those of the backup."
      to="/team"
      link="Change the team"
    >
      <Answer of={team} lines={2}>
        {({ members, invitations }) => (
          <>
            <Table caption="Members" columns={memberColumns} rows={members} keyOf={({ id }) => id} />
            {invitations.length > 0 && (
              <Table caption="Invitations" columns={invitationColumns} rows={invitations} keyOf={({ id }) => id} />
            )}
          </>
        )}
      </Answer>
    </Part>
  );
};

type AnyWallet = Wallet | { network: string; kind: null; pending: Wallet['pending'] };

const isSet = (row: AnyWallet): row is Wallet => row.kind !== null;

const walletColumns: readonly Column<AnyWallet>[] = [
  { head: 'Network', cell: ({ network }) => <strong>{networkName(network)}</strong> },
  {
    head: 'New payments go to',
    cell: row => (
      <span className="two-lines">
        {isSet(row) ? <code>{row.destination}</code> : <span>No wallet</span>}
        {row.pending && (
          <span>
            <Badge tone="care">Pending change</Badge> from <Time at={row.pending.takesEffectAt} /> on, requested by{' '}
            {row.pending.requestedBy}: <code>{row.pending.destination}</code>
          </span>
        )}
      </span>
    ),
  },
  { head: 'In use since', cell: row => <Time at={isSet(row) ? row.createdAt : null} /> },
];

const ReviewedWallets = (): ReactElement => {
  const wallets = useAnswer('GET /wallets', { environment: 'production' });
  return (
    <Part
      title="Live wallets"
      lead="Compare each address with your own wallet. A wallet that was replaced after the backup is in force again."
      to="/wallets"
      link="Change wallets"
    >
      <Answer of={wallets} lines={2}>
        {({ data }) => {
          const shown = data.filter(row => isSet(row) || row.pending !== null);
          return shown.length === 0 ? (
            <None>No live wallet is set.</None>
          ) : (
            <Table caption="Live wallets" columns={walletColumns} rows={shown} keyOf={({ network }) => network} />
          );
        }}
      </Answer>
    </Part>
  );
};

const endpointColumns: readonly Column<Endpoint>[] = [
  {
    head: 'Endpoint',
    cell: ({ id, url, description }) => (
      <span className="two-lines">
        <AppLink href={hrefIn('production', `/webhooks/${id}`)}>{url}</AppLink>
        {description && <span className="muted">{description}</span>}
      </span>
    ),
  },
  { head: 'Status', cell: ({ status }) => <StatusBadge status={status} /> },
  { head: 'Created', cell: ({ createdAt }) => <Time at={createdAt} /> },
];

const ReviewedEndpoints = (): ReactElement => {
  const endpoints = useAnswer('GET /webhooks', { environment: 'production' });
  return (
    <Part
      title="Live webhook endpoints"
      lead="Delete endpoints that you no longer own. A signing secret that was rotated after the backup is the old one again."
      to="/webhooks"
      link="Change endpoints"
    >
      <Answer of={endpoints} lines={2}>
        {({ data }) =>
          data.length === 0 ? (
            <None>There is no live endpoint.</None>
          ) : (
            <Table caption="Live webhook endpoints" columns={endpointColumns} rows={data} keyOf={({ id }) => id} />
          )
        }
      </Answer>
    </Part>
  );
};

/** All parts that the person's role shows. */
export const ReviewedParts = (): ReactElement => {
  const mayReadKeys = useMay('keys.read');
  return (
    <>
      {mayReadKeys && <ReviewedKeys environment="production" />}
      <ReviewedMembers />
      <ReviewedWallets />
      <ReviewedEndpoints />
      {mayReadKeys && <ReviewedKeys environment="sandbox" />}
    </>
  );
};
