import { type ReactElement, useState } from 'react';
import type { AnswerOf } from '../../../src/core/dashboard/dashboardApi.ts';
import { useAct, useAnswer } from '../asking.ts';
import { Field } from '../kit/field.tsx';
import { Form, FormError, Submit } from '../kit/form.tsx';
import { Notice } from '../kit/page.tsx';
import { SecretOnce } from '../kit/secretOnce.tsx';
import { Link } from '../link.tsx';
import { Step } from './step.tsx';

type Made = AnswerOf<'POST /webhooks'>;

const Pinged = ({ ping }: { ping: Made['ping'] }): ReactElement => (
  <Notice tone={ping.delivered ? 'good' : 'care'}>
    <p>
      {ping.delivered
        ? `It answered a test event with ${ping.statusCode} in ${ping.durationMs} ms.`
        : `It did not take the test event: ${ping.error ?? `it answered ${ping.statusCode}`}. You can try again on its page.`}
    </p>
  </Notice>
);

export const WebhookStep = (): ReactElement => {
  const webhooks = useAnswer('GET /webhooks');
  const create = useAct('POST /webhooks', { refresh: ['GET /webhooks'] });
  const [made, setMade] = useState<Made | null>(null);
  const known = webhooks.data?.data ?? [];
  return (
    <Step number={2} title="Hear of payments" isDone={known.length > 0}>
      <p className="muted">
        Florin tells your server what happens, signed, until it answers. You may do this later; payments work without
        it.
      </p>
      {made && (
        <>
          <Pinged ping={made.ping} />
          <SecretOnce secret={made.secret} what="signing secret">
            Your server verifies with this secret that an event comes from Florin. <Link to="/webhooks">Webhooks</Link>{' '}
            shows it again.
          </SecretOnce>
        </>
      )}
      {!made && known.length > 0 && (
        <p>
          Events go to <code>{known[0]!.url}</code>. <Link to="/webhooks">All webhooks</Link>
        </p>
      )}
      {!made && known.length === 0 && (
        <Form
          onSubmit={async values =>
            setMade(await create.mutateAsync({ body: { url: values.text('url'), events: ['*'] } }))
          }
        >
          <Field
            label="Address"
            name="url"
            type="url"
            placeholder="https://example.com/florin"
            hint="HTTPS."
            required
          />
          <FormError />
          <div>
            <Submit kind="plain">Add and test it</Submit>
          </div>
        </Form>
      )}
    </Step>
  );
};
