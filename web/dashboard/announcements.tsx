import type { ReactElement } from 'react';
import { Icon } from './kit/icon.tsx';
import { networkName } from './kit/networkName.ts';
import { Time } from './kit/time.tsx';
import { AppLink } from './link.tsx';
import { environmentHere, hrefIn } from './pageLocation.ts';
import { useAnswer } from './serverCalls.ts';

const everyMs = 60_000;

const useAnnouncements = () => useAnswer('GET /announcements', {}, { everyMs: () => everyMs });

/** The page waits for this, so that an announcement does not push it down later. */
export const useAreAnnouncementsKnown = (): boolean => !useAnnouncements().isPending;

/** Shows wallet changes and recovery links on every page, so that an unwanted one is noticed in time. */
export const Announcements = (): ReactElement | null => {
  const { data } = useAnnouncements();
  if (!data || data.walletChanges.length + data.recoveries.length === 0) return null;
  return (
    <section className="announcements" aria-label="Announcements">
      {data.walletChanges.map(({ id, environment, network, requestedBy, takesEffectAt }) => (
        <p key={id} className="announcement">
          <Icon name="warning" />
          <span>
            {requestedBy} requested a change of the {environment === 'sandbox' ? 'test' : 'live'} wallet for{' '}
            <strong>{networkName(network)}</strong>. It takes effect on <Time at={takesEffectAt} />.
          </span>
          <AppLink href={hrefIn(environment, '/wallets')}>Review the change</AppLink>
        </p>
      ))}
      {data.recoveries.map(({ email, opensAt }) => (
        <p key={email} className="announcement">
          <Icon name="warning" />
          <span>
            The operator created a link with which <strong>{email}</strong> can set a new password from{' '}
            <Time at={opensAt} /> on. If nobody expects this, remove them from the team.
          </span>
          <AppLink href={hrefIn(environmentHere(), '/team')}>Team</AppLink>
        </p>
      ))}
    </section>
  );
};
