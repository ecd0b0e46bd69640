import { type ReactElement, useState } from 'react';
import type { ShownTestResult } from '../../../src/core/api/setupApi.ts';
import { eventText } from '../../../src/core/payment/eventText.ts';
import { type EventType, eventTypes } from '../../../src/core/payment/states.ts';
import { Buttons } from '../kit/dialog.tsx';
import { Field, Select } from '../kit/field.tsx';
import { Form, FormError, Submit } from '../kit/form.tsx';
import { Card, Notice } from '../kit/page.tsx';
import { useAct } from '../serverCalls.ts';
import { ShownResult } from './testResult.tsx';

const kinds = [...eventTypes].reverse().map(value => ({ value, label: value }));

const TestForm = ({ id }: { id: string }): ReactElement => {
  const test = useAct('POST /webhooks/:id/test');
  const [type, setType] = useState<EventType>('webhook.test');
  const [result, setResult] = useState<{ of: string; result: ShownTestResult } | null>(null);
  return (
    <Form
      label="Send a test event"
      onSubmit={async () => {
        setResult(null);
        setResult({ of: type, result: await test.mutateAsync({ params: { id }, body: { type } }) });
      }}
    >
      <h3>Send a test event</h3>
      <Select
        label="Event type"
        name="type"
        options={kinds}
        value={type}
        onChange={event => setType(event.target.value as EventType)}
        hint={`${eventText[type]} Sample data is sent once, only to this endpoint, and not stored.`}
      />
      <FormError />
      {result && <ShownResult result={result.result} what={result.of} />}
      <Buttons>
        <Submit kind="plain">Send test event</Submit>
      </Buttons>
    </Form>
  );
};

/** The value of a `datetime-local` field. */
const localTime = (atMs: number): string => {
  const offsetMs = new Date(atMs).getTimezoneOffset() * 60_000;
  return new Date(atMs - offsetMs).toISOString().slice(0, 16);
};
const hourMs = 3_600_000;

const ReplayForm = ({ id }: { id: string }): ReactElement => {
  const replay = useAct('POST /webhooks/:id/replay', { refresh: ['GET /webhooks/:id/deliveries'] });
  const [scheduled, setScheduled] = useState<number | null>(null);
  const [first] = useState(() => localTime(Date.now() - hourMs));
  return (
    <Form
      label="Replay events"
      onSubmit={async values => {
        setScheduled(null);
        const until = values.text('to');
        const body = {
          from: new Date(values.text('from')).toISOString(),
          to: (until === '' ? new Date() : new Date(until)).toISOString(),
        };
        setScheduled((await replay.mutateAsync({ params: { id }, body })).scheduled);
      }}
    >
      <h3>Replay events</h3>
      <Field
        label="From"
        name="from"
        type="datetime-local"
        defaultValue={first}
        hint="All events that this endpoint subscribes to are sent again, oldest first, whether they were delivered or not."
        required
      />
      <Field label="To (leave empty for now)" name="to" type="datetime-local" />
      <FormError />
      {scheduled !== null && (
        <Notice tone={scheduled === 0 ? 'info' : 'good'}>
          <p role="status">
            {scheduled === 0
              ? 'There were no events in this time.'
              : `${scheduled} ${scheduled === 1 ? 'event is' : 'events are'} being sent.`}
          </p>
        </Notice>
      )}
      <Buttons>
        <Submit kind="plain">Replay events</Submit>
      </Buttons>
    </Form>
  );
};

export const SendCard = ({ id, mayManage, mayResend }: { id: string; mayManage: boolean; mayResend: boolean }) => (
  <Card>
    <div className="side-by-side">
      {mayManage && <TestForm id={id} />}
      {mayResend && <ReplayForm id={id} />}
    </div>
  </Card>
);
