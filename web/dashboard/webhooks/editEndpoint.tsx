import type { ReactElement } from 'react';
import type { Endpoint } from '../../../src/core/api/webhookEndpoint.ts';
import { say } from '../kit/announce.tsx';
import { Button } from '../kit/button.tsx';
import { Buttons, Dialog } from '../kit/dialog.tsx';
import { Field } from '../kit/field.tsx';
import { Form, FormError, Submit } from '../kit/form.tsx';
import { useAct } from '../serverCalls.ts';
import { EventPicker, pickedEvents } from './eventPicker.tsx';

export const EditEndpoint = ({
  endpoint,
  isOpen,
  onClose,
}: {
  endpoint: Endpoint;
  isOpen: boolean;
  onClose: () => void;
}): ReactElement => {
  const change = useAct('PATCH /webhooks/:id', { refresh: ['GET /webhooks/:id', 'GET /webhooks'] });
  return (
    <Dialog isOpen={isOpen} onClose={onClose} title="Change the endpoint" isWide>
      <Form
        label="Change the endpoint"
        onSubmit={async values => {
          const body = {
            url: values.text('url'),
            events: pickedEvents(values),
            description: values.text('description') || null,
          };
          await change.mutateAsync({ params: { id: endpoint.id }, body });
          say('The endpoint was changed.');
          onClose();
        }}
      >
        <Field
          label="Endpoint URL"
          name="url"
          type="url"
          defaultValue={endpoint.url}
          maxLength={2048}
          hint="Deliveries that are still waiting also go to the new URL."
          required
        />
        <Field
          label="Description (optional)"
          name="description"
          defaultValue={endpoint.description ?? ''}
          maxLength={500}
        />
        <EventPicker chosen={endpoint.events} />
        <FormError />
        <Buttons>
          <Submit>Save</Submit>
          <Button onClick={onClose}>Cancel</Button>
        </Buttons>
      </Form>
    </Dialog>
  );
};
