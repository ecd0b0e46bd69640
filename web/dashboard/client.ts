import type { AnswerOf, BodyOf, DashboardCallName, QueryOf } from '../../src/core/api/dashboardApi.ts';
import type { SignedIn } from '../../src/core/api/sessionApi.ts';
import type { Environment } from '../../src/core/environment.ts';
import { isGatewayFault, noteAnswer, noteNoAnswer } from './connection.ts';
import { base, environmentHere, here, navigate, outsideHref } from './pageLocation.ts';
import { wasUsedRecently } from './userActivity.ts';

/** A failed call. `status` is null if there was no answer from Florin. */
export class CallError extends Error {
  readonly status: number | null;
  readonly code: string;
  readonly param: string | null;
  readonly requestId: string | null;

  constructor(
    status: number | null,
    { code, message, param, requestId }: { code: string; message: string; param?: string; requestId?: string },
  ) {
    super(message);
    this.name = 'CallError';
    this.status = status;
    this.code = code;
    this.param = param ?? null;
    this.requestId = requestId ?? null;
  }
}

type ParamsIn<Path extends string> = Path extends `${string}:${infer Name}/${infer Rest}`
  ? Name | ParamsIn<`/${Rest}`>
  : Path extends `${string}:${infer Name}`
    ? Name
    : never;

type Given<Name extends DashboardCallName> = (ParamsIn<Name> extends never
  ? { params?: undefined }
  : { params: Record<ParamsIn<Name>, string> }) &
  (BodyOf<Name> extends undefined ? { body?: undefined } : { body: BodyOf<Name> }) & {
    query?: QueryOf<Name> | undefined;
    /** By default, the environment in the URL. */
    environment?: Environment;
    signal?: AbortSignal;
  };
export type CallOptions<Name extends DashboardCallName> =
  Record<never, never> extends Given<Name> ? [options?: Given<Name>] : [options: Given<Name>];

type AnyOptions = {
  params?: Record<string, string>;
  query?: object;
  body?: unknown;
  environment?: Environment;
  signal?: AbortSignal;
};

export const apiBase = '/dashboard/api';

/** The URL of a call. Also used for links to files. */
export const callPath = (path: string, { params = {}, query = {}, environment }: AnyOptions = {}): string => {
  const filled = path.replace(/:([a-zA-Z]+)/g, (_, name: string) => encodeURIComponent(params[name] ?? ''));
  const search = new URLSearchParams({ environment: environment ?? environmentHere() });
  for (const [name, value] of Object.entries(query))
    if (value !== undefined && value !== null && value !== '') search.set(name, String(value));
  return `${apiBase}${filled}?${search}`;
};

const noAnswer = { code: 'no_answer', message: 'Florin did not answer. Check your connection and try again.' };

const errorIn = async (answer: Response): Promise<CallError> => {
  const unreadable = {
    code: 'internal_error',
    message: `Florin answered with status ${answer.status} and no explanation.`,
  };
  try {
    const { error } = (await answer.json()) as { error?: ConstructorParameters<typeof CallError>[1] };
    return new CallError(answer.status, error ?? unreadable);
  } catch {
    return isGatewayFault(answer.status) ? new CallError(null, noAnswer) : new CallError(answer.status, unreadable);
  }
};

/** The account that this page shows. Another tab may open another one in the same session. */
let account: string | null = null;

/** Starts the app anew if another tab has opened another account: nothing of the first one may stay on the screen. */
const noteAccount = (name: string, answer: unknown): void => {
  const { state, account: found } = answer as Partial<SignedIn>;
  if (state === undefined || found === undefined) return;
  if (name === 'GET /session' && account !== null && account !== found.id) location.assign(base);
  account = found.id;
};

const ask = async (name: string, options: AnyOptions): Promise<Response> => {
  const [method, path] = name.split(' ') as [string, string];
  const hasBody = options.body !== undefined;
  // Background requests do not extend the session, so that an unused page is signed out.
  const isBackground = method === 'GET' && !wasUsedRecently();
  try {
    const answer = await fetch(callPath(path, options), {
      method,
      credentials: 'same-origin',
      headers: {
        accept: 'application/json',
        ...(hasBody ? { 'content-type': 'application/json' } : {}),
        ...(isBackground ? { 'x-florin-background': '1' } : {}),
        ...(account === null ? {} : { 'x-florin-account': account }),
      },
      ...(hasBody ? { body: JSON.stringify(options.body) } : {}),
      ...(options.signal ? { signal: options.signal } : {}),
    });
    // A gateway status with JSON comes from Florin. Without JSON, it comes from a proxy.
    const isFlorin = !isGatewayFault(answer.status) || (answer.headers.get('content-type') ?? '').includes('json');
    (isFlorin ? noteAnswer : noteNoAnswer)();
    return answer;
  } catch (error) {
    if (options.signal?.aborted) throw error;
    noteNoAnswer();
    throw new CallError(null, noAnswer);
  }
};

/** `any`: a password will do. `second-factor`: only a passkey or a code. */
export type ProofKind = 'any' | 'second-factor';

let prove: ((kind: ProofKind) => Promise<boolean>) | null = null;
/** Sets the dialog that asks for proof of identity. It returns whether proof was given. */
export const answerProofWith = (handler: typeof prove): void => {
  prove = handler;
};

let forget: () => void = () => {};
/** Sets what to do when the session has ended: its data must not stay on the screen. */
export const onSignedOut = (handler: () => void): void => {
  forget = handler;
};

let isLost = false;
/** Whether the session ended while a page of the app was open. */
export const wasSessionLost = (): boolean => isLost;
/** Call when somebody has signed in: a later sign-out is no lost session. */
export const startSession = (): void => {
  isLost = false;
};

const wayBack = (): string => {
  const { environment } = here();
  return environment === null ? '' : `?next=${encodeURIComponent(location.pathname + location.search)}`;
};

/** Calls whose 401 has another meaning: a wrong password is not an ended session. */
const isSigningIn = (name: string): boolean => /^POST \/(?:sign-in|setup|invitation|recovery|prove)\b/.test(name);

const read = async (name: string, answer: Response): Promise<unknown> => {
  try {
    const value = (await answer.json()) as unknown;
    noteAccount(name, value);
    return value;
  } catch {
    throw new CallError(null, noAnswer);
  }
};

const proofNeeded = ({ status, param }: CallError): ProofKind | null => {
  if (status !== 403) return null;
  if (param === 'proof') return 'any';
  return param === 'secondFactor' ? 'second-factor' : null;
};

export const call = async <Name extends DashboardCallName>(
  name: Name,
  ...[given]: CallOptions<Name>
): Promise<AnswerOf<Name>> => {
  // The environment is read once, so that the repeated call after a proof uses the same one.
  const options: AnyOptions = { ...(given as AnyOptions), environment: given?.environment ?? environmentHere() };
  let answer = await ask(name, options);
  if (answer.ok) return (await read(name, answer)) as AnswerOf<Name>;
  let error = await errorIn(answer);
  const kind = proofNeeded(error);
  if (kind !== null && prove !== null && (await prove(kind))) {
    answer = await ask(name, options);
    if (answer.ok) return (await read(name, answer)) as AnswerOf<Name>;
    error = await errorIn(answer);
  }
  if (error.status === 401 && !isSigningIn(name)) {
    account = null;
    const next = wayBack();
    // On pages without an environment, the person has just signed out, and this call was made before that.
    isLost ||= here().environment !== null;
    forget();
    navigate(outsideHref(`/sign-in${next}`), { isReplacing: true });
  }
  throw error;
};
