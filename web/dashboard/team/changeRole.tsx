import type { ReactElement } from 'react';
import type { Role } from '../../../src/core/access/rights.ts';
import type { Member } from '../../../src/core/api/teamApi.ts';
import { say } from '../kit/announce.tsx';
import { Button } from '../kit/button.tsx';
import { Confirm } from '../kit/confirm.tsx';
import { Buttons, Dialog } from '../kit/dialog.tsx';
import { Form, FormError, Submit } from '../kit/form.tsx';
import { roleNames } from '../roleNames.ts';
import { useAct } from '../serverCalls.ts';
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

export const RemoveMember = ({ member, onClose }: { member: Member | null; onClose: () => void }): ReactElement => {
  const remove = useAct('DELETE /team/:id', { refresh: ['GET /team'] });
  return (
    <Confirm
      isOpen={member !== null}
      onClose={onClose}
      title={`Remove ${member?.name ?? ''}?`}
      verb="Remove from the team"
      refusal="Keep them"
      act={async () => {
        await remove.mutateAsync({ params: { id: member!.id } });
        say(`${member!.name} was removed.`);
      }}
    >
      <p>
        Their sessions end at once and they can no longer sign in. API keys that they created keep working: revoke the
        ones they know. Their actions stay in the audit log.
      </p>
    </Confirm>
  );
};
