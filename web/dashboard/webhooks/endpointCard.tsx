import { type ReactElement, useState } from 'react';
import type { Endpoint } from '../../../src/core/api/webhookEndpoint.ts';
import { StatusBadge } from '../kit/badge.tsx';
import { Button } from '../kit/button.tsx';
import { Confirm } from '../kit/confirm.tsx';
import { Copyable } from '../kit/copyButton.tsx';
import { Card, Facts, Notice } from '../kit/page.tsx';
import { ErrorBox } from '../kit/states.tsx';
import { Time } from '../kit/time.tsx';
import { hrefIn, navigate, useEnvironment } from '../pageLocation.ts';
import { useAct } from '../serverCalls.ts';
import { useMay } from '../session.tsx';
import { EditEndpoint } from './editEndpoint.tsx';
import { eventsText } from './eventsText.ts';

const DisabledNotice = ({ endpoint }: { endpoint: Endpoint }): ReactElement => (
  <Notice tone="care">
    <p>
      <strong>This endpoint is disabled.</strong>{' '}
      {endpoint.disabledReason && `Reason: ${endpoint.disabledReason.replace(/\.$/, '')}. `}
      It receives no events. Enable it when your server works again, then replay the events it missed.
    </p>
  </Notice>
);

const Removing = ({ endpoint, isOpen, onClose }: { endpoint: Endpoint; isOpen: boolean; onClose: () => void }) => {
  const remove = useAct('DELETE /webhooks/:id', { refresh: ['GET /webhooks'] });
  const environment = useEnvironment();
  return (
    <Confirm
      isOpen={isOpen}
      onClose={onClose}
      title="Delete this endpoint?"
      verb="Delete endpoint"
      act={async () => {
        await remove.mutateAsync({ params: { id: endpoint.id } });
        navigate(hrefIn(environment, '/webhooks'));
      }}
    >
      <p>
        <code>{endpoint.url}</code> receives no more events, and its secret is deleted. The events are kept and can be
        replayed to another endpoint.
      </p>
    </Confirm>
  );
};

const Switch = ({ endpoint }: { endpoint: Endpoint }): ReactElement => {
  const change = useAct('PATCH /webhooks/:id', { refresh: ['GET /webhooks/:id', 'GET /webhooks'] });
  const [isAsking, ask] = useState(false);
  const set = (status: Endpoint['status']) => change.mutateAsync({ params: { id: endpoint.id }, body: { status } });
  return (
    <>
      {endpoint.status === 'enabled' ? (
        <Button onClick={() => ask(true)}>Disable</Button>
      ) : (
        <Button kind="primary" isBusy={change.isPending} onClick={() => void set('enabled').catch(() => {})}>
          Enable
        </Button>
      )}
      {change.isError && !isAsking && <ErrorBox error={change.error} />}
      <Confirm
        isOpen={isAsking}
        onClose={() => ask(false)}
        title="Disable this endpoint?"
        verb="Disable endpoint"
        refusal="Keep it enabled"
        act={() => set('disabled')}
      >
        <p>Waiting deliveries are given up, and the endpoint receives no new events until you enable it again.</p>
      </Confirm>
    </>
  );
};

export const EndpointCard = ({ endpoint }: { endpoint: Endpoint }): ReactElement => {
  const [asked, ask] = useState<'edit' | 'delete' | null>(null);
  const mayManage = useMay('webhooks.manage');
  const close = (): void => ask(null);
  return (
    <>
      {endpoint.status === 'disabled' && <DisabledNotice endpoint={endpoint} />}
      <Card
        title="Endpoint"
        actions={
          mayManage && (
            <>
              <Switch endpoint={endpoint} />
              <Button onClick={() => ask('edit')}>Change</Button>
              <Button onClick={() => ask('delete')}>Delete</Button>
            </>
          )
        }
      >
        <Facts
          facts={[
            ['Endpoint URL', <Copyable key="url" text={endpoint.url} what="URL" />],
            ['Status', <StatusBadge key="status" status={endpoint.status} />],
            [
              'Events',
              endpoint.events.includes('*') || endpoint.events.length === 1
                ? eventsText(endpoint.events)
                : endpoint.events.join(', '),
            ],
            ['Description', endpoint.description ?? '—'],
            ['ID', <Copyable key="id" text={endpoint.id} what="ID" />],
            ['Created', <Time key="created" at={endpoint.createdAt} />],
          ]}
        />
      </Card>
      <EditEndpoint endpoint={endpoint} isOpen={asked === 'edit'} onClose={close} />
      <Removing endpoint={endpoint} isOpen={asked === 'delete'} onClose={close} />
    </>
  );
};
