import { useQueryClient } from '@tanstack/react-query';
import { type ReactElement, useState } from 'react';
import type { PasskeyRow } from '../../../src/core/api/sessionApi.ts';
import { call } from '../client.ts';
import { say } from '../kit/announce.tsx';
import { Button } from '../kit/button.tsx';
import { Confirm } from '../kit/confirm.tsx';
import { Buttons, Dialog } from '../kit/dialog.tsx';
import { Field } from '../kit/field.tsx';
import { Form, FormError, Submit } from '../kit/form.tsx';
import { Card } from '../kit/page.tsx';
import { Answer, Empty } from '../kit/states.tsx';
import { Table } from '../kit/table.tsx';
import { Time } from '../kit/time.tsx';
import { canUsePasskeys, makePasskey } from '../passkeys.ts';
import { useAct, useAnswer } from '../serverCalls.ts';

const AddPasskey = ({ isOpen, onClose }: { isOpen: boolean; onClose: () => void }): ReactElement => {
  const client = useQueryClient();
  return (
    <Dialog isOpen={isOpen} onClose={onClose} title="Add a passkey">
      <Form
        onSubmit={async values => {
          const response = await makePasskey(await call('POST /me/passkeys/options'));
          await call('POST /me/passkeys', { body: { name: values.text('name'), response } });
          await client.invalidateQueries();
          say('Passkey added.');
          onClose();
        }}
      >
        <p>Your device stores the passkey and asks for your fingerprint, face or PIN. It works at this address only.</p>
        <Field label="Name" name="name" hint="For example the name of your device." maxLength={60} required />
        <FormError />
        <Buttons>
          <Submit>Add passkey</Submit>
          <Button onClick={onClose}>Cancel</Button>
        </Buttons>
      </Form>
    </Dialog>
  );
};

export const PasskeysCard = (): ReactElement => {
  const passkeys = useAnswer('GET /me/passkeys');
  const [isAdding, setAdding] = useState(false);
  const [removed, setRemoved] = useState<PasskeyRow | null>(null);
  const remove = useAct('DELETE /me/passkeys/:id', { refresh: ['GET /me/passkeys', 'GET /session'] });
  const add = (
    <Button icon="plus" onClick={() => setAdding(true)} disabled={!canUsePasskeys()}>
      Add a passkey
    </Button>
  );
  return (
    <Card
      title="Passkeys"
      lead="Sign in with your fingerprint, face or PIN. A passkey cannot be stolen by a fake page."
      actions={add}
    >
      <Answer of={passkeys} lines={2}>
        {({ data }) =>
          data.length === 0 ? (
            <Empty title="No passkeys yet" />
          ) : (
            <Table
              caption="Passkeys"
              rows={data}
              keyOf={({ id }) => id}
              columns={[
                { head: 'Name', cell: ({ name }) => name },
                { head: 'Added', cell: ({ createdAt }) => <Time at={createdAt} /> },
                { head: 'Last used', cell: ({ lastUsedAt }) => <Time at={lastUsedAt} none="Never" /> },
                {
                  head: 'Remove',
                  isActions: true,
                  cell: row => (
                    <Button isSmall onClick={() => setRemoved(row)} aria-label={`Remove ${row.name}`}>
                      Remove
                    </Button>
                  ),
                },
              ]}
            />
          )
        }
      </Answer>
      <AddPasskey isOpen={isAdding} onClose={() => setAdding(false)} />
      <Confirm
        isOpen={removed !== null}
        onClose={() => setRemoved(null)}
        title="Remove this passkey?"
        verb="Remove"
        act={() => remove.mutateAsync({ params: { id: removed!.id } })}
      >
        <p>
          You can no longer sign in with <strong>{removed?.name}</strong>.
        </p>
      </Confirm>
    </Card>
  );
};
