import type { ReactElement } from 'react';
import type { AnswerOf } from '../../src/core/api/dashboardApi.ts';
import { auditText } from './audit/auditText.ts';
import { useDismissed } from './dismissedActs.ts';
import { Button } from './kit/button.tsx';
import { Icon } from './kit/icon.tsx';
import { networkName } from './kit/networkName.ts';
import { Time } from './kit/time.tsx';
import { AppLink, Link } from './link.tsx';
import { environmentHere, hrefIn } from './pageLocation.ts';
import { useAnswer } from './serverCalls.ts';
import { useMay, useSession } from './session.tsx';

const everyMs = 60_000;
/** More are in the audit log. */
const shownActs = 5;

type Known = AnswerOf<'GET /announcements'>;
type Act = Known['acts'][number];

const useAnnouncements = () => useAnswer('GET /announcements', {}, { everyMs: () => everyMs });

/** The page waits for this, so that an announcement does not push it down later. */
export const useAreAnnouncementsKnown = (): boolean => !useAnnouncements().isPending;

/** Whether another announcement tells of it for as long as it matters. */
const isToldAlready = ({ action, subject, environment, detail }: Act, { walletChanges, recoveries }: Known): boolean =>
  action === 'wallet.change_requested'
    ? walletChanges.some(change => change.network === subject && change.environment === environment)
    : action === 'person.recovery_link_created' && recoveries.some(({ email }) => email === detail.email);

const Acts = ({ acts, onDismiss }: { acts: readonly Act[]; onDismiss: () => void }): ReactElement => {
  const mayReadAll = useMay('audit.read');
  return (
    <div className="announcement">
      <Icon name="warning" />
      <ul className="announced-acts">
        {acts.slice(0, shownActs).map(act => (
          <li key={act.id}>
            <strong>{act.actor.name}</strong> {auditText(act)} <Time at={act.at} />
          </li>
        ))}
        {acts.length > shownActs && <li>There are {acts.length - shownActs} more.</li>}
      </ul>
      {mayReadAll && <Link to="/audit">Audit log</Link>}
      <Button isSmall onClick={onDismiss}>
        Dismiss
      </Button>
    </div>
  );
};

/** Shows a restore that waits for its review, wallet changes, recovery links and other security events on every page, so that an unwanted one is noticed. */
export const Announcements = (): ReactElement | null => {
  const { data } = useAnnouncements();
  const { account } = useSession();
  const [dismissed, dismiss] = useDismissed(account.id);
  if (!data) return null;
  const acts = data.acts.filter(act => Number(act.id) > dismissed && !isToldAlready(act, data));
  const isInReview = data.restoredAt !== null;
  if (!isInReview && data.walletChanges.length + data.recoveries.length + acts.length === 0) return null;
  return (
    <section className="announcements" aria-label="Announcements">
      {isInReview && (
        <p className="announcement">
          <Icon name="warning" />
          <span>This account was restored from a backup. Review it to open production.</span>
          <AppLink href={hrefIn('production', '/restore-review')}>Review the account</AppLink>
        </p>
      )}
      {data.walletChanges.map(({ id, environment, network, requestedBy, takesEffectAt, holdsOwners }) => (
        <p key={id} className="announcement">
          <Icon name="warning" />
          <span>
            {requestedBy} requested a change of the {environment === 'sandbox' ? 'test' : 'live'} wallet for{' '}
            <strong>{networkName(network)}</strong>. It takes effect on <Time at={takesEffectAt} />.
            {holdsOwners && ' Until then, the owners and how they sign in stay as they are.'}
          </span>
          <AppLink href={hrefIn(environment, '/wallets')}>Review the change</AppLink>
        </p>
      ))}
      {data.recoveries.map(({ email, opensAt }) => (
        <p key={email} className="announcement">
          <Icon name="warning" />
          <span>
            There is a link with which <strong>{email}</strong> can set a new password from <Time at={opensAt} /> on. If
            nobody expects this, remove them from the team.
          </span>
          <AppLink href={hrefIn(environmentHere(), '/team')}>Team</AppLink>
        </p>
      ))}
      {acts.length > 0 && <Acts acts={acts} onDismiss={() => dismiss(Number(acts[0]!.id))} />}
    </section>
  );
};
