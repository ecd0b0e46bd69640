import {
  keepPreviousData,
  QueryClient,
  type UseMutationResult,
  type UseQueryResult,
  useMutation,
  useQuery,
  useQueryClient,
} from '@tanstack/react-query';
import type { AnswerOf, DashboardCallName } from '../../src/core/dashboard/dashboardApi.ts';
import { CallError, type CallOptions, call } from './client.ts';
import { useEnvironment } from './pageLocation.ts';
import { isActive, onActiveAgain } from './userActivity.ts';

/** Reading and writing from components. What was read is kept apart by environment. */

const isNoAnswer = (error: unknown): boolean => error instanceof CallError && error.status === null;
/** It may be over soon: what failed so is read again by itself. */
const isOutage = (error: CallError | null): boolean => error !== null && (error.status === null || error.status >= 500);
const outageMs = 3_000;

/** How long until what was read is read again, where an outage keeps it away. */
export const outagePause = ({ state: { error } }: { state: { error: CallError | null } }): number | false =>
  isOutage(error) && outageMs;

export const queries = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 2_000,
      retry: (count, error) => isNoAnswer(error) && count < 1,
      refetchOnWindowFocus: true,
      // Whether there is an answer shows by asking: the browser's own word for being online is about other networks.
      networkMode: 'always',
    },
    mutations: { retry: false, networkMode: 'always' },
  },
});

onActiveAgain(() => void queries.invalidateQueries());

type Options<Name extends DashboardCallName> = {
  /** Ask again every so often, by what is known now; not while nobody is there. */
  everyMs?: (answer: AnswerOf<Name> | undefined) => number | false;
  isEnabled?: boolean;
  /** While the next page comes, the last one stays. */
  keepsPrevious?: boolean;
};

export const useAnswer = <Name extends DashboardCallName>(
  name: Name,
  given: Partial<NonNullable<CallOptions<Name>[0]>> = {},
  { everyMs, isEnabled = true, keepsPrevious = false }: Options<Name> = {},
): UseQueryResult<AnswerOf<Name>, CallError> => {
  const environment = useEnvironment();
  const { params, query } = given as { params?: object; query?: object };
  const ask = call as unknown as (name: Name, options: object) => Promise<AnswerOf<Name>>;
  return useQuery<AnswerOf<Name>, CallError>({
    queryKey: [name, environment, params ?? null, query ?? null],
    queryFn: ({ signal }) => ask(name, { ...given, environment, signal }),
    enabled: isEnabled,
    refetchInterval: asked => isActive() && (outagePause(asked) || (everyMs?.(asked.state.data) ?? false)),
    ...(keepsPrevious ? { placeholderData: keepPreviousData as never } : {}),
  }) as UseQueryResult<AnswerOf<Name>, CallError>;
};

/** A write. What it may have changed is read again, by the names of the calls that show it. */
export const useAct = <Name extends DashboardCallName>(
  name: Name,
  { refresh = [] as readonly DashboardCallName[] } = {},
): UseMutationResult<AnswerOf<Name>, CallError, CallOptions<Name>[0]> => {
  const client = useQueryClient();
  const ask = call as unknown as (name: Name, options: unknown) => Promise<AnswerOf<Name>>;
  return useMutation<AnswerOf<Name>, CallError, CallOptions<Name>[0]>({
    mutationFn: options => ask(name, options),
    onSuccess: () => Promise.all(refresh.map(shown => client.invalidateQueries({ queryKey: [shown] }))).then(() => {}),
  });
};
