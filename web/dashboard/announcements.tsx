import type { ReactElement } from 'react';
import { useAnswer } from './asking.ts';
import { Time } from './kit/time.tsx';
import { PlaceLink } from './link.tsx';
import { hrefIn } from './place.ts';

const everyMs = 60_000;

const useAnnouncements = () => useAnswer('GET /announcements', {}, { everyMs: () => everyMs });

/** Before that the page beneath is not shown, so that nothing pushes it down when it is read. */
export const useAreAnnouncementsKnown = (): boolean => !useAnnouncements().isPending;

/** Of both environments, on every page: a change of where money goes that nobody meant has to be seen in time. */
export const Announcements = (): ReactElement | null => {
  const { data } = useAnnouncements();
  if (!data || data.walletChanges.length === 0) return null;
  return (
    <section className="announcements" aria-label="Announcements">
      {data.walletChanges.map(({ id, environment, network, requestedBy, takesEffectAt }) => (
        <p key={id} className="announcement">
          <span>
            {requestedBy} asked to change the {environment === 'sandbox' ? 'test' : 'live'} wallet of{' '}
            <strong>{network}</strong>. It takes effect at <Time at={takesEffectAt} />.
          </span>
          <PlaceLink href={hrefIn(environment, '/wallets')}>Look at it</PlaceLink>
        </p>
      ))}
    </section>
  );
};
