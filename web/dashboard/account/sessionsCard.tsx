import type { ReactElement } from 'react';
import { useAct, useAnswer } from '../asking.ts';
import { say } from '../kit/announce.tsx';
import { Badge } from '../kit/badge.tsx';
import { Button } from '../kit/button.tsx';
import { Card } from '../kit/page.tsx';
import { Answer, ErrorBox } from '../kit/states.tsx';
import { Table } from '../kit/table.tsx';
import { Time } from '../kit/time.tsx';

export const SessionsCard = (): ReactElement => {
  const sessions = useAnswer('GET /me/sessions');
  const end = useAct('DELETE /me/sessions/:id', { refresh: ['GET /me/sessions'] });
  const endOthers = useAct('POST /me/sessions/end-others', { refresh: ['GET /me/sessions'] });
  const hasOthers = (sessions.data?.data.length ?? 0) > 1;
  const error = end.error ?? endOthers.error;
  return (
    <Card
      title="Sessions"
      lead="Where you are signed in. End any session that you do not recognize."
      actions={
        <Button
          disabled={!hasOthers}
          isBusy={endOthers.isPending}
          onClick={() => endOthers.mutate(undefined, { onSuccess: () => say('All other sessions were ended.') })}
        >
          End all other sessions
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
                    {device} {isThis && <Badge>This session</Badge>}
                  </span>
                ),
              },
              { head: 'IP address', cell: ({ address }) => <code>{address}</code> },
              { head: 'Signed in', cell: ({ createdAt }) => <Time at={createdAt} /> },
              { head: 'Last seen', cell: ({ lastSeenAt }) => <Time at={lastSeenAt} /> },
              {
                head: 'End',
                isActions: true,
                cell: ({ id, isThis, device }) =>
                  isThis ? null : (
                    <Button
                      isSmall
                      aria-label={`End the session on ${device}`}
                      onClick={() => end.mutate({ params: { id } }, { onSuccess: () => say('The session was ended.') })}
                    >
                      End
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
