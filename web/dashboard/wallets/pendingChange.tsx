import { type ReactElement, useEffect, useState } from 'react';
import type { WalletChange } from '../../../src/core/api/setupApi.ts';
import { say } from '../kit/announce.tsx';
import { Button } from '../kit/button.tsx';
import { Confirm } from '../kit/confirm.tsx';
import { Copyable } from '../kit/copyButton.tsx';
import { Buttons } from '../kit/dialog.tsx';
import { networkName } from '../kit/networkName.ts';
import { Notice } from '../kit/page.tsx';
import { Time } from '../kit/time.tsx';
import { useAct } from '../serverCalls.ts';
import { useMay, useSession } from '../session.tsx';

const everyMs = 30_000;

const timeLeft = (atMs: number, nowMs: number): string => {
  const minutes = Math.ceil((atMs - nowMs) / 60_000);
  if (minutes <= 0) return 'Due now';
  const [hours, rest] = [Math.floor(minutes / 60), minutes % 60];
  return hours > 0 ? `${hours} h ${rest} min left` : `${rest} min left`;
};

const TimeLeft = ({ at }: { at: string }): ReactElement => {
  const [nowMs, setNowMs] = useState(() => Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNowMs(Date.now()), everyMs);
    return () => clearInterval(timer);
  }, []);
  return <strong>{timeLeft(Date.parse(at), nowMs)}</strong>;
};

const Approve = ({
  change,
  isOpen,
  onClose,
}: {
  change: WalletChange;
  isOpen: boolean;
  onClose: () => void;
}): ReactElement => {
  const approve = useAct('POST /wallet-changes/:id/approve', { refresh: ['GET /wallets', 'GET /announcements'] });
  return (
    <Confirm
      isOpen={isOpen}
      onClose={onClose}
      title="Approve this change?"
      verb="Approve the change"
      refusal="Not now"
      kind="primary"
      act={async () => {
        await approve.mutateAsync({ params: { id: change.id } });
        say('You approved the change.');
      }}
    >
      <p>Ask {change.requestedBy} in person or by phone whether they requested it. Compare the address with them:</p>
      <Copyable text={change.destination} what="address to approve" />
      <p>
        The change takes effect at the same time as without your approval. Owners and how they sign in can change again.
      </p>
    </Confirm>
  );
};

/** What the change means for owners, and who is behind it. */
const Owners = ({ change: { approvals, holdsOwners } }: { change: WalletChange }): ReactElement => {
  const others = approvals.slice(1).map(({ name }) => name);
  return (
    <>
      {others.length > 0 && <p>Approved by {others.join(', ')}.</p>}
      {holdsOwners && (
        <p>
          Until then, the owners and how they sign in stay as they are, unless another owner approves this change or
          somebody stops it.
        </p>
      )}
    </>
  );
};

export const PendingChange = ({ change }: { change: WalletChange }): ReactElement => {
  const stop = useAct('POST /wallet-changes/:id/stop', { refresh: ['GET /wallets', 'GET /announcements'] });
  const [asked, ask] = useState<'stop' | 'approve' | null>(null);
  const mayManage = useMay('wallets.manage');
  const { person } = useSession();
  const isBehind = change.approvals.some(({ personId }) => personId === person.id);
  const mayApprove = useMay('wallets.approve') && !isBehind && change.holdsOwners;
  return (
    <Notice tone="care">
      <p>
        <TimeLeft at={change.takesEffectAt} /> until new payments go to this new{' '}
        {change.kind === 'xpub' ? 'extended public key' : 'treasury address'}:
      </p>
      <Copyable text={change.destination} what="new address" />
      <p>
        Requested by {change.requestedBy} on <Time at={change.requestedAt} />. It takes effect on{' '}
        <Time at={change.takesEffectAt} />.
      </p>
      <Owners change={change} />
      {mayManage && (
        <Buttons>
          <Button kind="danger" onClick={() => ask('stop')}>
            Stop this change
          </Button>
          {mayApprove && <Button onClick={() => ask('approve')}>Approve this change</Button>}
        </Buttons>
      )}
      <Approve change={change} isOpen={asked === 'approve'} onClose={() => ask(null)} />
      <Confirm
        isOpen={asked === 'stop'}
        onClose={() => ask(null)}
        title="Stop this change?"
        verb="Stop the change"
        refusal="Keep the change"
        act={async () => {
          await stop.mutateAsync({ params: { id: change.id } });
          say('The change was stopped.');
        }}
      >
        <p>
          The {networkName(change.network)} wallet stays as it is. If {change.requestedBy} did not request this change,
          somebody else has access to their account. Remove them from the team until you know more.
        </p>
      </Confirm>
    </Notice>
  );
};
