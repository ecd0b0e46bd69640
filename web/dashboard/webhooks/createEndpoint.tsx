import { type ReactElement, useState } from 'react';
import type { AnswerOf } from '../../../src/core/api/dashboardApi.ts';
import { Button, ButtonLink } from '../kit/button.tsx';
import { Buttons, Dialog } from '../kit/dialog.tsx';
import { Field } from '../kit/field.tsx';
import { Form, FormError, Submit, type Values } from '../kit/form.tsx';
import { SecretOnce } from '../kit/secretOnce.tsx';
import { useEnvironment } from '../pageLocation.ts';
import { useAct } from '../serverCalls.ts';
import { EventPicker, pickedEvents } from './eventPicker.tsx';
import { ShownResult } from './testResult.tsx';

type Made = AnswerOf<'POST /webhooks'>;

const EndpointForm = ({ onMade, onClose }: { onMade: (made: Made) => void; onClose: () => void }): ReactElement => {
  const create = useAct('POST /webhooks', { refresh: ['GET /webhooks'] });
  const isLive = useEnvironment() === 'production';
  const submit = async (values: Values): Promise<void> => {
    const body = {
      url: values.text('url'),
      events: pickedEvents(values),
      description: values.text('description') || null,
    };
    onMade(await create.mutateAsync({ body }));
  };
  return (
    <Form onSubmit={submit} label="New endpoint">
      <Field
        label="Endpoint URL"
        name="url"
        type="url"
        placeholder="https://shop.example/webhooks/florin"
        hint={
          isLive
            ? 'A public https URL. Florin never calls private networks.'
            : 'A public https URL. If Florin runs on your own machine, http://127.0.0.1 also works.'
        }
        maxLength={2048}
        required
      />
      <Field label="Description (optional)" name="description" maxLength={500} />
      <EventPicker />
      <p className="muted">A test event is sent at once. The endpoint is added even if the test fails.</p>
      <FormError />
      <Buttons>
        <Submit>Add and send a test event</Submit>
        <Button onClick={onClose}>Cancel</Button>
      </Buttons>
    </Form>
  );
};

export const CreateEndpoint = ({ isOpen, onClose }: { isOpen: boolean; onClose: () => void }): ReactElement => {
  const [made, setMade] = useState<Made | null>(null);
  const close = (): void => {
    setMade(null);
    onClose();
  };
  return (
    <Dialog isOpen={isOpen} onClose={close} title={made ? 'Your new endpoint' : 'Add an endpoint'} isWide>
      {made ? (
        <>
          <ShownResult result={made.ping} what="The test event" />
          <SecretOnce secret={made.secret} what="secret">
            Your server verifies events with this secret. You can reveal it again on the endpoint’s page. Each time is
            recorded in the audit log.
          </SecretOnce>
          <Buttons>
            <ButtonLink kind="primary" to={`/webhooks/${made.endpoint.id}`}>
              Open the endpoint
            </ButtonLink>
            <Button onClick={close}>Close</Button>
          </Buttons>
        </>
      ) : (
        <EndpointForm onMade={setMade} onClose={close} />
      )}
    </Dialog>
  );
};
