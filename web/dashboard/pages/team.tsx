import { type ReactElement, useState } from 'react';
import type { Invitation, Member } from '../../../src/core/api/teamApi.ts';
import { say } from '../kit/announce.tsx';
import { Badge } from '../kit/badge.tsx';
import { Button } from '../kit/button.tsx';
import { Card, Page } from '../kit/page.tsx';
import { Answer } from '../kit/states.tsx';
import { type Column, Table } from '../kit/table.tsx';
import { Time } from '../kit/time.tsx';
import { roleNames } from '../roleNames.ts';
import { useAct, useAnswer } from '../serverCalls.ts';
import { useMay, useSession } from '../session.tsx';
import { ChangeRole, RemoveMember } from '../team/changeRole.tsx';
import { InviteDialog } from '../team/inviteDialog.tsx';
import { RoleTable } from '../team/roleTable.tsx';

type Asked = { what: 'role' | 'remove'; member: Member };

const memberColumns = (
  myId: string,
  mayChange: (member: Member) => boolean,
  ask: (asked: Asked) => void,
): Column<Member>[] => [
  {
    head: 'Member',
    cell: ({ id, name, email }) => (
      <span className="two-lines">
        <strong>
          {name}
          {id === myId && <span className="muted"> (you)</span>}
        </strong>
        <span className="muted">{email}</span>
      </span>
    ),
  },
  { head: 'Role', cell: ({ role }) => roleNames[role] },
  {
    head: 'Second factor',
    cell: ({ hasSecondFactor }) => (
      <Badge tone={hasSecondFactor ? 'good' : 'care'}>{hasSecondFactor ? 'Yes' : 'No'}</Badge>
    ),
  },
  { head: 'Last seen', cell: ({ lastSeenAt }) => <Time at={lastSeenAt} none="Never" /> },
  {
    head: 'Actions',
    isActions: true,
    cell: member =>
      mayChange(member) ? (
        <span className="row-actions">
          <Button
            isSmall
            aria-label={`Change the role of ${member.name}`}
            onClick={() => ask({ what: 'role', member })}
          >
            Role
          </Button>
          {member.id !== myId && (
            <Button isSmall aria-label={`Remove ${member.name}`} onClick={() => ask({ what: 'remove', member })}>
              Remove
            </Button>
          )}
        </span>
      ) : null,
  },
];

const Invitations = ({ invitations }: { invitations: readonly Invitation[] }): ReactElement => {
  const withdraw = useAct('DELETE /team/invitations/:id', { refresh: ['GET /team'] });
  const mayManage = useMay('team.manage');
  const outcome = {
    onSuccess: () => say('The invitation was withdrawn.'),
    onError: ({ message }: Error) => say(message, 'bad'),
  };
  const columns: Column<Invitation>[] = [
    { head: 'Email', cell: ({ email }) => email },
    { head: 'Role', cell: ({ role }) => roleNames[role] },
    { head: 'Expires', cell: ({ expiresAt }) => <Time at={expiresAt} /> },
    {
      head: 'Actions',
      isActions: true,
      cell: ({ id, email }) =>
        mayManage ? (
          <Button
            isSmall
            aria-label={`Withdraw the invitation for ${email}`}
            onClick={() => withdraw.mutate({ params: { id } }, outcome)}
          >
            Withdraw
          </Button>
        ) : null,
    },
  ];
  return (
    <Card title="Invitations" lead="A link is shown only once. If it is lost, invite the same address again.">
      <Table caption="Invitations" columns={columns} rows={invitations} keyOf={({ id }) => id} />
    </Card>
  );
};

const Team = (): ReactElement => {
  const team = useAnswer('GET /team');
  const [isInviting, invite] = useState(false);
  const [asked, ask] = useState<Asked | null>(null);
  const { person } = useSession();
  const [mayManage, mayChangeOwners] = [useMay('team.manage'), useMay('team.owners')];
  const mayChange = ({ role }: Member): boolean => mayManage && (role !== 'owner' || mayChangeOwners);
  const of = (what: Asked['what']): Member | null => (asked?.what === what ? asked.member : null);
  return (
    <Page
      title="Team"
      lead="Members have the same role for test and live."
      actions={
        mayManage && (
          <Button kind="primary" icon="plus" onClick={() => invite(true)}>
            Invite a person
          </Button>
        )
      }
    >
      <Answer of={team}>
        {({ members, invitations }) => (
          <>
            <Card>
              <Table
                caption="Members"
                columns={memberColumns(person.id, mayChange, ask)}
                rows={members}
                keyOf={({ id }) => id}
              />
            </Card>
            {invitations.length > 0 && <Invitations invitations={invitations} />}
          </>
        )}
      </Answer>
      <RoleTable />
      <InviteDialog isOpen={isInviting} onClose={() => invite(false)} />
      <ChangeRole member={of('role')} onClose={() => ask(null)} />
      <RemoveMember member={of('remove')} onClose={() => ask(null)} />
    </Page>
  );
};

export default Team;
