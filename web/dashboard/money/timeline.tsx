import type { ReactElement } from 'react';
import type { TimelineEntry } from '../../../src/core/api/moneyApi.ts';
import { say } from '../kit/announce.tsx';
import { Button } from '../kit/button.tsx';
import { Icon, type IconName } from '../kit/icon.tsx';
import { Time } from '../kit/time.tsx';
import { Link } from '../link.tsx';
import { useAct } from '../serverCalls.ts';
import { useMay } from '../session.tsx';

const icons: Readonly<Record<TimelineEntry['kind'], IconName>> = {
  created: 'plus',
  state: 'check',
  transfer: 'payments',
  stray: 'warning',
  delivery: 'webhooks',
  action: 'person',
  sweep: 'settlement',
};

const troubles = new Set(
  ['underpaid', 'overpaid', 'late', 'reverted', 'reversed', 'stray'].map(each => `payment.${each}`),
);
const isTrouble = ({ kind, detail }: TimelineEntry): boolean => kind === 'state' && troubles.has(String(detail.type));

const Resend = ({ deliveryId }: { deliveryId: string }): ReactElement => {
  const resend = useAct('POST /deliveries/:id/resend', { refresh: ['GET /payments/:id'] });
  return (
    <Button
      isSmall
      isBusy={resend.isPending}
      onClick={() =>
        resend.mutate(
          { params: { id: deliveryId } },
          { onSuccess: () => say('The webhook is being sent again.'), onError: error => say(error.message, 'bad') },
        )
      }
    >
      Resend
    </Button>
  );
};

/** The exact values, for debugging. */
const Detail = ({ detail }: { detail: TimelineEntry['detail'] }): ReactElement | null =>
  Object.keys(detail).length === 0 ? null : (
    <details>
      <summary>Details</summary>
      <dl className="timeline-detail">
        {Object.entries(detail).map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>
              <code>{typeof value === 'string' ? value : JSON.stringify(value)}</code>
            </dd>
          </div>
        ))}
      </dl>
    </details>
  );

const Entry = ({ entry, isLatestAttempt }: { entry: TimelineEntry; isLatestAttempt: boolean }): ReactElement => {
  const { at, kind, title, refs, detail } = entry;
  const mayResend = useMay('deliveries.resend');
  return (
    <li className={`timeline-entry timeline-${isTrouble(entry) ? 'stray' : kind}`}>
      <span className="timeline-mark">
        <Icon name={isTrouble(entry) ? 'warning' : icons[kind]} />
      </span>
      <div className="timeline-text">
        <p>{title}</p>
        <p className="muted">
          <Time at={at} />
          {refs.actor && kind !== 'action' && <> · {refs.actor}</>}
        </p>
        <div className="row">
          {refs.txHash && refs.explorerUrl && (
            <a href={refs.explorerUrl} target="_blank" rel="noreferrer">
              View transaction
            </a>
          )}
          {refs.deliveryId && <Link to={`/deliveries/${refs.deliveryId}`}>View delivery</Link>}
          {refs.deliveryId && mayResend && isLatestAttempt && <Resend deliveryId={refs.deliveryId} />}
        </div>
        <Detail detail={detail} />
      </div>
    </li>
  );
};

const keyOf = ({ at, kind, title, refs }: TimelineEntry): string => `${at} ${kind} ${title} ${JSON.stringify(refs)}`;

/** States, money, deliveries and people's actions in one list, the latest first. */
export const Timeline = ({ entries }: { entries: readonly TimelineEntry[] }): ReactElement => {
  const latest = new Map(entries.map(entry => [entry.refs.deliveryId, entry]));
  return (
    <ol className="timeline">
      {entries.toReversed().map(entry => (
        <Entry key={keyOf(entry)} entry={entry} isLatestAttempt={latest.get(entry.refs.deliveryId) === entry} />
      ))}
    </ol>
  );
};
