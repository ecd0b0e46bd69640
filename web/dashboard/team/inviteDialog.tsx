import { type ReactElement, useState } from 'react';
import type { Role } from '../../../src/core/access/rights.ts';
import type { AnswerOf } from '../../../src/core/api/dashboardApi.ts';
import { Button } from '../kit/button.tsx';
import { Buttons, Dialog } from '../kit/dialog.tsx';
import { Field } from '../kit/field.tsx';
import { Form, FormError, Submit } from '../kit/form.tsx';
import { SecretOnce } from '../kit/secretOnce.tsx';
import { Time } from '../kit/time.tsx';
import { useAct } from '../serverCalls.ts';
import { useSession } from '../session.tsx';
import { RoleChoices } from './roleChoices.tsx';

type Made = AnswerOf<'POST /team/invitations'>;

export const InviteDialog = ({ isOpen, onClose }: { isOpen: boolean; onClose: () => void }): ReactElement => {
  const [made, setMade] = useState<Made | null>(null);
  const { sendsMail } = useSession();
  const invite = useAct('POST /team/invitations', { refresh: ['GET /team'] });
  const close = (): void => {
    setMade(null);
    onClose();
  };
  return (
    <Dialog isOpen={isOpen} onClose={close} title={made ? 'Invitation link' : 'Invite a person'}>
      {made ? (
        <>
          <SecretOnce secret={made.link} what="link">
            {made.isMailed ? `This link was also sent to ${made.email}.` : `Send this link to ${made.email}.`} It is
            shown only now and works once, until <Time at={made.expiresAt} />.
            {sendsMail &&
              !made.isMailed &&
              ' Florin did not mail it, because the daily limit of mailed invitations is reached.'}
          </SecretOnce>
          <Buttons>
            <Button kind="primary" onClick={close}>
              Done
            </Button>
          </Buttons>
        </>
      ) : (
        <Form
          label="Invitation"
          onSubmit={async values => {
            const body = { email: values.text('email'), role: values.text('role') as Role };
            setMade(await invite.mutateAsync({ body }));
          }}
        >
          <Field
            label="Email"
            name="email"
            type="email"
            hint="They use it to sign in. A new invitation replaces an earlier one to the same address."
            required
          />
          <RoleChoices />
          <FormError />
          <Buttons>
            <Submit>Create invitation</Submit>
            <Button onClick={close}>Cancel</Button>
          </Buttons>
        </Form>
      )}
    </Dialog>
  );
};
