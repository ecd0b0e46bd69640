import type { ReactElement } from 'react';
import type { DeliveryAttempt } from '../../../src/core/api/delivery.ts';
import type { DeliveryOfPayment } from '../../../src/core/api/setupApi.ts';
import { say } from '../kit/announce.tsx';
import { Badge, StatusBadge } from '../kit/badge.tsx';
import { BodyView } from '../kit/bodyView.tsx';
import { Button } from '../kit/button.tsx';
import { CodeBlock } from '../kit/codeBlock.tsx';
import { Copyable } from '../kit/copyButton.tsx';
import { Card, Facts, Page } from '../kit/page.tsx';
import { Answer, Empty } from '../kit/states.tsx';
import { durationText, Time } from '../kit/time.tsx';
import { Link } from '../link.tsx';
import { useAct, useAnswer } from '../serverCalls.ts';
import { useMay } from '../session.tsx';

const everyMs = 2_000;

const headerText = (headers: DeliveryAttempt['request']['headers']): string =>
  Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}`)
    .join('\n');

const isGood = (code: number | null): boolean => code !== null && code >= 200 && code < 300;

const AttemptItem = (props: { attempt: DeliveryAttempt; number: number; isLatest: boolean }): ReactElement => {
  const { attempt, number, isLatest } = props;
  return (
    <li>
      <details className="attempt" open={isLatest}>
        <summary>
          <strong>Attempt {number}</strong>
          <Badge tone={isGood(attempt.statusCode) ? 'good' : 'bad'}>{attempt.statusCode ?? 'No answer'}</Badge>
          <span className="muted">
            <Time at={attempt.at} />, {durationText(attempt.durationMs)}
          </span>
        </summary>
        <div className="stack">
          {attempt.error && <p>{attempt.error}</p>}
          <h3>Request headers</h3>
          <CodeBlock code={headerText(attempt.request.headers)} label={`Headers of attempt ${number}`} />
          <h3>Response</h3>
          {attempt.statusCode === null ? (
            <p className="muted">There was no response.</p>
          ) : (
            <BodyView text={attempt.response} label={`Response to attempt ${number}`} />
          )}
        </div>
      </details>
    </li>
  );
};

const DeliveryFacts = ({ delivery }: { delivery: DeliveryOfPayment }): ReactElement => (
  <Facts
    facts={[
      ['Status', <StatusBadge key="status" status={delivery.status} />],
      ...(delivery.parkedReason ? ([['Reason', delivery.parkedReason]] as const) : []),
      ...(delivery.nextAttemptAt && delivery.status === 'scheduled'
        ? ([['Next attempt', <Time key="next" at={delivery.nextAttemptAt} />]] as const)
        : []),
      ['URL', <code key="url">{delivery.url}</code>],
      [
        'Sent to',
        delivery.endpointId === null ? (
          'The payment’s callbackUrl'
        ) : (
          <Link key="endpoint" to={`/webhooks/${delivery.endpointId}`}>
            Endpoint {delivery.endpointId}
          </Link>
        ),
      ],
      [
        'Payment',
        delivery.paymentId === null ? (
          '—'
        ) : (
          <Link key="payment" to={`/payments/${delivery.paymentId}`}>
            {delivery.paymentId}
          </Link>
        ),
      ],
      ['Event', <Copyable key="event" text={delivery.eventId} what="event ID" />],
      ['Created', <Time key="made" at={delivery.createdAt} />],
    ]}
  />
);

const Resend = ({ id }: { id: string }): ReactElement => {
  const resend = useAct('POST /deliveries/:id/resend', {
    refresh: ['GET /deliveries/:id', 'GET /webhooks/:id/deliveries'],
  });
  const outcome = {
    onSuccess: () => say('The event is being sent again.'),
    onError: ({ message }: Error) => say(message, 'bad'),
  };
  return (
    <Button kind="primary" isBusy={resend.isPending} onClick={() => resend.mutate({ params: { id } }, outcome)}>
      Resend
    </Button>
  );
};

const Delivery = ({ params }: { params: Readonly<Record<string, string>> }): ReactElement => {
  const id = params.id!;
  const answer = useAnswer(
    'GET /deliveries/:id',
    { params: { id } },
    { everyMs: known => (known?.status === 'scheduled' ? everyMs : false) },
  );
  const mayResend = useMay('deliveries.resend');
  return (
    <Page
      title="Delivery"
      lead={answer.data && <code>{answer.data.type}</code>}
      actions={mayResend && <Resend id={id} />}
    >
      <Answer of={answer} lines={10}>
        {({ log, body, ...delivery }) => (
          <>
            <Card>
              <DeliveryFacts delivery={delivery} />
            </Card>
            <Card
              title="Attempts"
              lead={delivery.attempts > log.length && `Showing the latest ${log.length} of ${delivery.attempts}.`}
            >
              {log.length === 0 ? (
                <Empty title="No attempts yet">The first attempt starts in a moment.</Empty>
              ) : (
                <ol className="ruled">
                  {log.map((attempt, index) => {
                    // Attempts count up from 1, and the newest comes first.
                    const number = Math.max(delivery.attempts, log.length) - index;
                    return <AttemptItem key={number} attempt={attempt} number={number} isLatest={index === 0} />;
                  })}
                </ol>
              )}
            </Card>
            <Card title="Request body" lead="Every attempt sends the same body.">
              <BodyView text={body} label="Request body" />
            </Card>
          </>
        )}
      </Answer>
    </Page>
  );
};

export default Delivery;
