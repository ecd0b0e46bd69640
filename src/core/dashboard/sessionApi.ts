import type { Action, Role } from './roles.ts';

/** Signing in, second factors, sessions, and one's own account. Paths are below /dashboard/api. */

export type Person = {
  id: string;
  email: string;
  name: string;
  role: Role;
  hasPassword: boolean;
  hasTotp: boolean;
  passkeys: number;
  recoveryCodesLeft: number;
};

export type SignedIn = {
  state: 'signed-in';
  person: Person;
  account: { id: string; name: string; plan: string };
  actions: Action[];
  /** Until when sensitive steps need no new proof; null: proof is asked for first. */
  provenUntil: string | null;
  urls: { sandbox: string; production: string };
  /** No person of this account has a second factor or passkey yet, and so on: shown as hints. */
  needsSecondFactor: boolean;
};
export type SessionState = { state: 'no-owner' } | { state: 'signed-out' } | SignedIn;

/** What is still asked for after a right password. */
export type SignInAnswer = SignedIn | { state: 'code-needed' };

export type PasskeyRow = { id: string; name: string; createdAt: string; lastUsedAt: string | null };
export type SessionRow = {
  id: string;
  isThis: boolean;
  address: string;
  device: string;
  createdAt: string;
  lastSeenAt: string;
};

type Json = Record<string, unknown>;
type Done = { done: true };
type NewProofs = { password?: string; passkey?: Json };

export type SessionApi = {
  'GET /session': { answer: SessionState };
  'POST /setup/check': { body: { token: string }; answer: { accountName: string } };
  /** With a password, with what a new passkey answered, or with both. */
  'POST /setup': { body: { token: string; name: string; email: string } & NewProofs; answer: SignedIn };
  'POST /setup/passkey/options': { body: { token: string; name: string; email: string }; answer: Json };
  /** An invitation works like the setup link, for a person with a role chosen by who invites. */
  'POST /invitation/check': { body: { token: string }; answer: { accountName: string; email: string; role: Role } };
  'POST /invitation': { body: { token: string; name: string } & NewProofs; answer: SignedIn };
  'POST /invitation/passkey/options': { body: { token: string; name: string }; answer: Json };
  'POST /sign-in': { body: { email: string; password: string; code?: string }; answer: SignInAnswer };
  'POST /sign-in/passkey/options': { answer: Json };
  'POST /sign-in/passkey': { body: { response: Json }; answer: SignedIn };
  'POST /sign-out': { answer: Done };
  'POST /prove/passkey/options': { answer: Json };
  /** Step-up: password and code (or recovery code), or a passkey. */
  'POST /prove': { body: { password?: string; code?: string; response?: Json }; answer: { provenUntil: string } };
  'GET /me/sessions': { answer: { data: SessionRow[] } };
  'DELETE /me/sessions/:id': { answer: Done };
  'POST /me/sessions/end-others': { answer: Done };
  'GET /me/passkeys': { answer: { data: PasskeyRow[] } };
  'POST /me/passkeys/options': { answer: Json };
  'POST /me/passkeys': { body: { name: string; response: Json }; answer: PasskeyRow };
  'DELETE /me/passkeys/:id': { answer: Done };
  /** otpauth: address, the same as an SVG QR code, and the secret by itself; in force once a code of it was given. */
  'POST /me/totp/begin': { answer: { uri: string; secret: string; qr: string } };
  'POST /me/totp': { body: { code: string }; answer: { recoveryCodes: string[] } };
  'DELETE /me/totp': { answer: Done };
  'POST /me/recovery-codes': { answer: { recoveryCodes: string[] } };
  'POST /me/password': { body: { password: string }; answer: Done };
  'PATCH /me': { body: { name?: string }; answer: Person };
};
