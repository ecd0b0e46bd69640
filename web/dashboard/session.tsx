import { useQuery, useQueryClient } from '@tanstack/react-query';
import { createContext, use } from 'react';
import type { Action } from '../../src/core/access/rights.ts';
import type { SessionState, SignedIn } from '../../src/core/api/sessionApi.ts';
import { type CallError, call, startSession } from './client.ts';
import { outagePause } from './serverCalls.ts';

export const sessionKey = ['GET /session'] as const;

export const useSessionState = () =>
  useQuery<SessionState, CallError>({
    queryKey: sessionKey,
    queryFn: () => call('GET /session'),
    staleTime: 30_000,
    refetchInterval: outagePause,
  });

export const SessionContext = createContext<SignedIn | null>(null);

/** The session of the signed-in person. Throws on pages without one. */
export const useSession = (): SignedIn => {
  const session = use(SessionContext);
  if (session === null) throw new Error('this page is shown to people who are signed in');
  return session;
};

/** Whether the person's role allows it. The server enforces it; this only hides controls. */
export const useMay = (action: Action): boolean => useSession().actions.includes(action);

/** Replaces the known session, after signing in or a change to the person's own account. */
export const useKeepSession = (): ((session: SignedIn) => void) => {
  const client = useQueryClient();
  return session => {
    startSession();
    client.setQueryData(sessionKey, session);
  };
};
