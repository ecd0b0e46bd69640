import type { ReactElement } from 'react';
import { Icon } from './kit/icon.tsx';
import { networkName } from './kit/networkName.ts';
import { Time } from './kit/time.tsx';
import { AppLink } from './link.tsx';
import { hrefIn } from './pageLocation.ts';
import { useAnswer } from './serverCalls.ts';

const everyMs = 60_000;

const useAnnouncements = () => useAnswer('GET /announcements', {}, { everyMs: () => everyMs });

/** The page waits for this, so that an announcement does not push it down later. */
export const useAreAnnouncementsKnown = (): boolean => !useAnnouncements().isPending;

/** Shows wallet changes of both environments on every page, so that an unwanted change is noticed in time. */
export const Announcements = (): ReactElement | null => {
  const { data } = useAnnouncements();
  if (!data || data.walletChanges.length === 0) return null;
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
    </section>
  );
};
