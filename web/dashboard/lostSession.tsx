import type { ReactElement } from 'react';
import type { SessionEnd, SessionState } from '../../src/core/api/sessionApi.ts';
import { wasSessionLost } from './client.ts';
import { Notice } from './kit/page.tsx';

const reasons: Readonly<Record<SessionEnd, string>> = {
  expired: 'Your session expired after 12 hours.',
  idle: 'You were signed out after 30 minutes without activity.',
  signed_out: 'You signed out in another tab.',
  ended: 'This session was ended from another device.',
  password_changed: 'Your password was changed. This ended all other sessions.',
  role_changed: 'Your role was changed. Sign in again to use the new role.',
  removed: 'Your account was removed from this team.',
  too_many: 'You signed in on many devices. The session that was not used for the longest time was ended.',
  unknown: 'Florin does not know this session any more. Its data may have been reset.',
};
/** The browser has deleted the cookie, so the server cannot tell which of the two happened. */
const cookieGone = 'Your session ended. It expired, or you signed out in another tab.';

/** Tells a person who was signed in why the session ended. */
export const LostSession = ({ state }: { state: SessionState | undefined }): ReactElement | null => {
  if (state?.state !== 'signed-out') return null;
  const reason = state.ended ? reasons[state.ended] : wasSessionLost() ? cookieGone : null;
  return reason === null ? null : (
    <Notice>
      <p role="status">{reason}</p>
    </Notice>
  );
};
