import type { ReactElement } from 'react';
import { say } from '../kit/announce.tsx';
import { Badge } from '../kit/badge.tsx';
import { Button } from '../kit/button.tsx';
import { Card } from '../kit/page.tsx';
import { Answer, ErrorBox } from '../kit/states.tsx';
import { Table } from '../kit/table.tsx';
import { Time } from '../kit/time.tsx';
import { useAct, useAnswer } from '../serverCalls.ts';

export const SessionsCard = (): ReactElement => {
  const sessions = useAnswer('GET /me/sessions');
  const end = useAct('DELETE /me/sessions/:id', { refresh: ['GET /me/sessions'] });
  const endOthers = useAct('POST /me/sessions/end-others', { refresh: ['GET /me/sessions'] });
  const hasOthers = (sessions.data?.data.length ?? 0) > 1;
  const error = end.error ?? endOthers.error;
  return (
    <Card
      title="Sessions"
      lead="Devices on which you are signed in. Sign out any device you do not know."
      actions={
        <Button
          disabled={!hasOthers}
          isBusy={endOthers.isPending}
          onClick={() => endOthers.mutate(undefined, { onSuccess: () => say('All other sessions are signed out.') })}
        >
          Sign out all others
        </Button>
      }
    >
      {error && <ErrorBox error={error} />}
      <Answer of={sessions} lines={2}>
        {({ data }) => (
          <Table
            caption="Sessions"
            rows={data}
            keyOf={({ id }) => id}
            columns={[
              {
                head: 'Device',
                cell: ({ device, isThis }) => (
                  <span className="row">
                    {device} {isThis && <Badge tone="info">This device</Badge>}
                  </span>
                ),
              },
              { head: 'IP address', cell: ({ address }) => <code>{address}</code> },
              { head: 'Signed in', cell: ({ createdAt }) => <Time at={createdAt} /> },
              { head: 'Last seen', cell: ({ lastSeenAt }) => <Time at={lastSeenAt} /> },
              {
                head: 'Sign out',
                isActions: true,
                cell: ({ id, isThis, device }) =>
                  isThis ? null : (
                    <Button
                      isSmall
                      aria-label={`Sign out ${device}`}
                      onClick={() => end.mutate({ params: { id } }, { onSuccess: () => say('Session signed out.') })}
                    >
                      Sign out
                    </Button>
                  ),
              },
            ]}
          />
        )}
      </Answer>
    </Card>
  );
};
