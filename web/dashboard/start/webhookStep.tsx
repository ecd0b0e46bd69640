import { type ReactElement, useState } from 'react';
import type { AnswerOf } from '../../../src/core/api/dashboardApi.ts';
import { CodeBlock } from '../kit/codeBlock.tsx';
import { Field } from '../kit/field.tsx';
import { Form, FormError, Submit } from '../kit/form.tsx';
import { Notice } from '../kit/page.tsx';
import { SecretOnce } from '../kit/secretOnce.tsx';
import { Link } from '../link.tsx';
import { useAct, useAnswer } from '../serverCalls.ts';
import { Step } from './step.tsx';

const listenCommand = 'npx florin listen --forward-to http://localhost:3000/webhooks';

type Made = AnswerOf<'POST /webhooks'>;

const Pinged = ({ ping }: { ping: Made['ping'] }): ReactElement => (
  <Notice tone={ping.delivered ? 'good' : 'care'}>
    <p>
      {ping.delivered
        ? `Your server answered the test event with ${ping.statusCode} in ${ping.durationMs} ms.`
        : `The test event failed: ${ping.error ?? `your server answered ${ping.statusCode}`}. You can send another one on the page of the webhook.`}
    </p>
  </Notice>
);

export const WebhookStep = (): ReactElement => {
  const webhooks = useAnswer('GET /webhooks');
  const create = useAct('POST /webhooks', { refresh: ['GET /webhooks'] });
  const [made, setMade] = useState<Made | null>(null);
  const known = webhooks.data?.data ?? [];
  return (
    <Step number={2} title="Add a webhook (optional)" isDone={known.length > 0}>
      <p className="muted">
        Florin sends signed events to your server, for example when a payment is completed. You can do this later.
      </p>
      {made && (
        <>
          <Pinged ping={made.ping} />
          <SecretOnce secret={made.secret} what="signing secret">
            Your server uses this secret to verify that an event comes from Florin. <Link to="/webhooks">Webhooks</Link>{' '}
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
            label="URL"
            name="url"
            type="url"
            placeholder="https://example.com/florin"
            hint="A public https URL. If Florin runs on your own machine, http://127.0.0.1 also works."
            required
          />
          <FormError />
          <div>
            <Submit kind="plain">Add webhook</Submit>
          </div>
        </Form>
      )}
      <p>To forward events to a server on this machine, run:</p>
      <CodeBlock label="Command to forward events" code={listenCommand} />
    </Step>
  );
};
