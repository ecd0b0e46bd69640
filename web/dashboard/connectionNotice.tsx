import type { ReactElement } from 'react';
import { useIsConnectionLost } from './connection.ts';

/** The element always exists, so that screen readers read its text when it appears. */
export const ConnectionNotice = (): ReactElement => {
  const isLost = useIsConnectionLost();
  return (
    <div className="connection" role="status">
      {isLost && <p>No connection to Florin. Trying again…</p>}
    </div>
  );
};
