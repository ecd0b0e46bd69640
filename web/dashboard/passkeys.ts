import { startAuthentication, startRegistration, WebAuthnError } from '@simplewebauthn/browser';
import { CallError, call } from './client.ts';

type Json = Record<string, unknown>;

export const canUsePasskeys = (): boolean => typeof PublicKeyCredential === 'function';

const failed = (message: string): CallError => new CallError(null, { code: 'passkey_failed', message });

/** Browsers cancel the request at once if they do not trust the certificate. They do not tell the reason. */
const trustHint = (): string =>
  location.hostname === 'localhost'
    ? ' Passkeys also fail if your browser does not trust the certificate of Florin: run npx florin trust.'
    : '';

/** For privacy, browsers give few details about a failure. The message says what the person can do. */
const asCallError = (error: unknown): unknown => {
  if (error instanceof CallError) return error;
  const cause = error instanceof WebAuthnError ? error.cause : error;
  const name = cause instanceof Error ? cause.name : '';
  if (error instanceof WebAuthnError && error.code === 'ERROR_AUTHENTICATOR_PREVIOUSLY_REGISTERED')
    return failed('This device already has a passkey for your account.');
  if (name === 'NotAllowedError') return failed(`The passkey request was canceled or timed out.${trustHint()}`);
  if (name === 'SecurityError') return failed('Passkeys do not work at this address. They need HTTPS and a host name.');
  return failed('The passkey did not work. Try again, or sign in another way.');
};

/** Returns the signed response of the authenticator, for the server to verify. */
export const askPasskey = async (options: Json, { isFromAutofill = false } = {}): Promise<Json> => {
  try {
    const given = await startAuthentication({
      optionsJSON: options as never,
      useBrowserAutofill: isFromAutofill,
      verifyBrowserAutofillInput: false,
    });
    return given as unknown as Json;
  } catch (error) {
    throw asCallError(error);
  }
};

export const makePasskey = async (options: Json): Promise<Json> => {
  try {
    return (await startRegistration({ optionsJSON: options as never })) as unknown as Json;
  } catch (error) {
    throw asCallError(error);
  }
};

export const proveByPasskey = async (): Promise<void> => {
  const response = await askPasskey(await call('POST /prove/passkey/options'));
  await call('POST /prove', { body: { response } });
};
