import { type ReactElement, useState } from 'react';
import { permissions } from '../../../src/core/access/rights.ts';
import type { ApiKey } from '../../../src/core/api/setupApi.ts';
import { CreateKey } from '../keys/createKey.tsx';
import { permissionText } from '../keys/permissionText.ts';
import { RotateKey } from '../keys/rotateKey.tsx';
import { StatusBadge } from '../kit/badge.tsx';
import { Button } from '../kit/button.tsx';
import { Confirm } from '../kit/confirm.tsx';
import { Checkbox } from '../kit/field.tsx';
import { Card, Page } from '../kit/page.tsx';
import { Answer, Empty } from '../kit/states.tsx';
import { type Column, Table } from '../kit/table.tsx';
import { Time } from '../kit/time.tsx';
import { useEnvironment } from '../pageLocation.ts';
import { useAct, useAnswer } from '../serverCalls.ts';
import { useMay } from '../session.tsx';

type Asked = { what: 'create' } | { what: 'rotate' | 'revoke'; apiKey: ApiKey };

const mayText = (scopes: ApiKey['scopes']): string =>
  scopes.length === permissions.length ? 'All permissions' : scopes.map(each => permissionText[each].label).join(', ');

const columnsFor = (mayManage: boolean, ask: (asked: Asked) => void): Column<ApiKey>[] => [
  {
    head: 'Key',
    cell: ({ name, hint }) => (
      <span className="two-lines">
        <strong>{name}</strong>
        <code className="muted">{hint}</code>
      </span>
    ),
  },
  {
    head: 'Permissions',
    cell: ({ scopes, ipAllow }) => (
      <span className="two-lines">
        <span title={scopes.join(', ')}>{mayText(scopes)}</span>
        {ipAllow && <span className="muted">Only from {ipAllow.join(', ')}</span>}
      </span>
    ),
  },
  { head: 'Last used', cell: ({ lastUsedAt }) => <Time at={lastUsedAt} none="Never" /> },
  { head: 'Expires', cell: ({ expiresAt }) => <Time at={expiresAt} none="Never" /> },
  { head: 'Status', cell: ({ status }) => <StatusBadge status={status} /> },
  ...(mayManage
    ? [
        {
          head: 'Actions',
          isActions: true,
          cell: (apiKey: ApiKey) =>
            apiKey.status === 'active' || apiKey.status === 'rotating' ? (
              <span className="row-actions">
                {apiKey.status === 'active' && (
                  <Button isSmall aria-label={`Rotate ${apiKey.name}`} onClick={() => ask({ what: 'rotate', apiKey })}>
                    Rotate
                  </Button>
                )}
                <Button
                  isSmall
                  aria-label={`Revoke ${apiKey.name} ${apiKey.hint}`}
                  onClick={() => ask({ what: 'revoke', apiKey })}
                >
                  Revoke
                </Button>
              </span>
            ) : null,
        },
      ]
    : []),
];

const RevokeKey = ({ apiKey, onClose }: { apiKey: ApiKey | null; onClose: () => void }): ReactElement => {
  const revoke = useAct('POST /keys/:id/revoke', { refresh: ['GET /keys'] });
  return (
    <Confirm
      isOpen={apiKey !== null}
      onClose={onClose}
      title="Revoke this key?"
      verb="Revoke key"
      act={() => revoke.mutateAsync({ params: { id: apiKey!.id } })}
    >
      <p>
        <strong>{apiKey?.name}</strong> <code>{apiKey?.hint}</code> is refused within a second and can never be used
        again. Every server that still uses it stops working. To replace a key without downtime, rotate it instead.
      </p>
      <p>
        {apiKey?.lastUsedAt ? (
          <>
            It was last used on <Time at={apiKey.lastUsedAt} />.
          </>
        ) : (
          'It has not been used yet.'
        )}
      </p>
    </Confirm>
  );
};

const isOver = ({ status }: ApiKey): boolean => status === 'revoked' || status === 'expired';

const KeyList = ({ keys, ask }: { keys: readonly ApiKey[]; ask: (asked: Asked) => void }): ReactElement => {
  const [showsAll, setShowsAll] = useState(false);
  const mayManage = useMay('keys.manage');
  const over = keys.filter(isOver).length;
  const shown = showsAll ? keys : keys.filter(each => !isOver(each));
  return (
    <>
      {shown.length > 0 ? (
        <Table caption="Keys" columns={columnsFor(mayManage, ask)} rows={shown} keyOf={({ id }) => id} />
      ) : (
        <Empty
          title={keys.length === 0 ? 'No keys yet' : 'No active keys'}
          action={
            mayManage && (
              <Button kind="primary" icon="plus" onClick={() => ask({ what: 'create' })}>
                Create a key
              </Button>
            )
          }
        >
          Your server sends a key with each API request. Never put a key into a web page or an app.
        </Empty>
      )}
      {over > 0 && (
        <Checkbox
          label={`Show revoked and expired keys (${over})`}
          checked={showsAll}
          onChange={event => setShowsAll(event.target.checked)}
        />
      )}
    </>
  );
};

const Keys = (): ReactElement => {
  const keys = useAnswer('GET /keys');
  const [asked, ask] = useState<Asked | null>(null);
  const close = (): void => ask(null);
  const isLive = useEnvironment() === 'production';
  return (
    <Page
      title="API keys"
      lead={
        isLive
          ? 'Live keys handle real money. They begin with sk_live_ and work only with the live API.'
          : 'Test keys begin with sk_test_ and work only with the test API.'
      }
      actions={
        useMay('keys.manage') && (
          <Button kind="primary" icon="plus" onClick={() => ask({ what: 'create' })}>
            Create a key
          </Button>
        )
      }
    >
      <Card>
        <Answer of={keys}>{({ data }) => <KeyList keys={data} ask={ask} />}</Answer>
      </Card>
      <CreateKey isOpen={asked?.what === 'create'} onClose={close} />
      <RotateKey apiKey={asked?.what === 'rotate' ? asked.apiKey : null} onClose={close} />
      <RevokeKey apiKey={asked?.what === 'revoke' ? asked.apiKey : null} onClose={close} />
    </Page>
  );
};

export default Keys;
