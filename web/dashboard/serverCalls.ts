import {
  keepPreviousData,
  QueryClient,
  type UseMutationResult,
  type UseQueryResult,
  useMutation,
  useQuery,
  useQueryClient,
} from '@tanstack/react-query';
import type { AnswerOf, DashboardCallName } from '../../src/core/api/dashboardApi.ts';
import { CallError, type CallOptions, call } from './client.ts';
import { useEnvironment } from './pageLocation.ts';
import { isActive, onActiveAgain } from './userActivity.ts';

/** Reads and writes of components. The cache keeps the environments apart. */

const isNoAnswer = (error: unknown): boolean => error instanceof CallError && error.status === null;
/** An error that may end soon. The read is then repeated automatically. */
const isOutage = (error: CallError | null): boolean => error !== null && (error.status === null || error.status >= 500);
const outageMs = 3_000;

/** The pause before a read is repeated after an outage; false if there is no outage. */
export const outagePause = ({ state: { error } }: { state: { error: CallError | null } }): number | false =>
  isOutage(error) && outageMs;

export const queries = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 2_000,
      retry: (count, error) => isNoAnswer(error) && count < 1,
      refetchOnWindowFocus: true,
      // Requests are sent even if the browser says that it is offline: Florin may run on this machine.
      networkMode: 'always',
    },
    mutations: { retry: false, networkMode: 'always' },
  },
});

onActiveAgain(() => void queries.invalidateQueries());

type Options<Name extends DashboardCallName> = {
  /** The poll interval for the latest answer. Polling stops while the person is inactive. */
  everyMs?: (answer: AnswerOf<Name> | undefined) => number | false;
  isEnabled?: boolean;
  /** Shows the previous page while the next one loads. */
  keepsPrevious?: boolean;
};

export const useAnswer = <Name extends DashboardCallName>(
  name: Name,
  given: Partial<NonNullable<CallOptions<Name>[0]>> = {},
  { everyMs, isEnabled = true, keepsPrevious = false }: Options<Name> = {},
): UseQueryResult<AnswerOf<Name>, CallError> => {
  const environmentHere = useEnvironment();
  const { environment = environmentHere } = given;
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

/** A write. After it succeeds, the calls named in `refresh` are read again. */
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
