import type { ReactElement } from 'react';
import type { Backups as BackupsAnswer } from '../../../src/core/api/moneyApi.ts';
import { Badge } from '../kit/badge.tsx';
import { Card, Notice } from '../kit/page.tsx';
import { Answer, Loading } from '../kit/states.tsx';
import { Time } from '../kit/time.tsx';
import { useAnswer } from '../serverCalls.ts';

const refreshMs = 60_000;

const badges = {
  ok: <Badge tone="good">OK</Badge>,
  not_scheduled: <Badge tone="care">Not set up</Badge>,
} as const;

const Last = ({ lastAt }: BackupsAnswer): ReactElement =>
  lastAt === null ? (
    <>No backup has succeeded yet.</>
  ) : (
    <>
      Last backup: <Time at={lastAt} />.
    </>
  );

const OperatorText = (backups: BackupsAnswer): ReactElement => {
  const { status, failingSince } = backups;
  if (status === 'not_scheduled') {
    return (
      <>
        Florin takes no backups by itself. Set <code>FLORIN_BACKUP_DIR</code> and <code>FLORIN_BACKUP_RECIPIENT</code>{' '}
        on the server, or run <code>npx florin backup</code> regularly.
      </>
    );
  }
  return (
    <>
      <Last {...backups} />
      {failingSince !== null && (
        <>
          {' '}
          Attempts have failed since <Time at={failingSince} />.
        </>
      )}
      {status === 'attention' && (
        <>
          {' '}
          Run <code>npx florin doctor</code> on the server: it says why.
        </>
      )}
    </>
  );
};

const textOf = (backups: BackupsAnswer): ReactElement => {
  if (backups.isOperators) return <OperatorText {...backups} />;
  return backups.status === 'ok' ? (
    <>The operator of this Florin takes backups.</>
  ) : (
    <>Backups of this Florin are late or fail. Tell its operator.</>
  );
};

const useBackups = () => useAnswer('GET /backups', {}, { everyMs: () => refreshMs });

/** Backups that fail or are late, among what needs attention. */
export const LateBackups = (): ReactElement | null => {
  const { data } = useBackups();
  if (data?.status !== 'attention') return null;
  return (
    <Notice tone="bad">
      <p>
        <strong>Backups need attention.</strong> {textOf(data)}
      </p>
    </Notice>
  );
};

/** Backups that are well or not set up. Nothing where there is nothing to tell. */
export const Backups = (): ReactElement => (
  <Answer of={useBackups()} loading={<Loading lines={2} />}>
    {answer =>
      answer &&
      answer.status !== 'attention' && (
        <Card title="Backups" actions={badges[answer.status]}>
          <p>{textOf(answer)}</p>
        </Card>
      )
    }
  </Answer>
);
