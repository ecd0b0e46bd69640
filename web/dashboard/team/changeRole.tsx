import type { ReactElement } from 'react';
import type { Role } from '../../../src/core/access/rights.ts';
import type { Member } from '../../../src/core/api/teamApi.ts';
import { say } from '../kit/announce.tsx';
import { Button } from '../kit/button.tsx';
import { Buttons, Dialog } from '../kit/dialog.tsx';
import { RadioChoices, type RadioOption } from '../kit/field.tsx';
import { Form, FormError, Submit } from '../kit/form.tsx';
import { Answer } from '../kit/states.tsx';
import { roleNames } from '../roleNames.ts';
import { useAct, useAnswer } from '../serverCalls.ts';
import { RoleChoices } from './roleChoices.tsx';

export const ChangeRole = ({ member, onClose }: { member: Member | null; onClose: () => void }): ReactElement => {
  const change = useAct('PATCH /team/:id', { refresh: ['GET /team', 'GET /session'] });
  return (
    <Dialog isOpen={member !== null} onClose={onClose} title={`Change the role of ${member?.name ?? ''}`}>
      {member && (
        <Form
          label="Role"
          onSubmit={async values => {
            const role = values.text('role') as Role;
            await change.mutateAsync({ params: { id: member.id }, body: { role } });
            say(`${member.name} now has the role ${roleNames[role]}.`);
            onClose();
          }}
        >
          <RoleChoices chosen={member.role} />
          <p className="muted">Their sessions end. They sign in again with the new role.</p>
          <FormError />
          <Buttons>
            <Submit>Change role</Submit>
            <Button onClick={onClose}>Cancel</Button>
          </Buttons>
        </Form>
      )}
    </Dialog>
  );
};

type Fate = 'keep' | 'revoke';

const fates: readonly RadioOption<Fate>[] = [
  { value: 'revoke', label: 'Revoke them', hint: 'Servers that use them stop working at once.' },
  { value: 'keep', label: 'Keep them', hint: 'Whoever has a copy can go on using it.' },
];

/** The keys that the member made. What becomes of them is decided here, because they outlive their maker. */
const MadeKeys = ({ member }: { member: Member }): ReactElement => {
  const keys = useAnswer('GET /team/:id/keys', { params: { id: member.id } });
  return (
    <Answer of={keys} lines={2}>
      {({ data }) =>
        data.length === 0 ? (
          <p className="muted">They made no API key that still works.</p>
        ) : (
          <>
            <p>They made {data.length === 1 ? 'an API key that still works' : 'API keys that still work'}:</p>
            <ul className="plain-list">
              {data.map(({ id, name, hint, environment }) => (
                <li key={id}>
                  {name} <code>{hint}</code> ({environment === 'sandbox' ? 'test' : 'live'})
                </li>
              ))}
            </ul>
            <RadioChoices legend="What becomes of these keys?" name="keys" options={fates} chosen="revoke" />
          </>
        )
      }
    </Answer>
  );
};

export const RemoveMember = ({ member, onClose }: { member: Member | null; onClose: () => void }): ReactElement => {
  const remove = useAct('DELETE /team/:id', { refresh: ['GET /team'] });
  return (
    <Dialog isOpen={member !== null} onClose={onClose} title={`Remove ${member?.name ?? ''}?`}>
      {member && (
        <Form
          label="Remove"
          onSubmit={async values => {
            const keys = values.text('keys') as Fate | '';
            await remove.mutateAsync({ params: { id: member.id }, query: keys === '' ? {} : { keys } });
            say(`${member.name} was removed.`);
            onClose();
          }}
        >
          <p>
            Their sessions in this account end at once. Their own sign-in stays, for other accounts that they belong to.
            Their actions stay in the audit log.
          </p>
          <MadeKeys member={member} />
          <FormError />
          <Buttons>
            <Submit kind="danger">Remove from the team</Submit>
            <Button onClick={onClose}>Cancel</Button>
          </Buttons>
        </Form>
      )}
    </Dialog>
  );
};
