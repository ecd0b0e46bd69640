import type { ReactElement } from 'react';
import { useIsConnectionLost } from './connection.ts';

/** Always there, so that its text is read aloud when it comes. */
export const ConnectionNotice = (): ReactElement => {
  const isLost = useIsConnectionLost();
  return (
    <div className="connection" role="status">
      {isLost && <p>No connection to Florin. Trying again…</p>}
    </div>
  );
};
