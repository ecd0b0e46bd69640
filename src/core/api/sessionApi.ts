import type { Action, Role } from '../access/rights.ts';

/** Sign-in, second factors, sessions and the user's own account. Paths are below /dashboard/api. */

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
  /** The accounts that the user is a member of, this one included. */
  accounts: { id: string; name: string; role: Role }[];
  /** Whether the operator allows people to create further accounts. */
  mayAddAccounts: boolean;
  /** Whether the operator has set up e-mail. */
  sendsMail: boolean;
  actions: Action[];
  /** Until this time sensitive actions need no new proof. Null if the next one needs it. */
  provenUntil: string | null;
  urls: { sandbox: string; production: string };
  /** True while nobody in the account has a second factor or a passkey. The app then shows a hint. */
  needsSecondFactor: boolean;
  /** Until this time the user can also sign in as before the sign-in was changed, which undoes the change. */
  earlierSignInUntil: string | null;
};
/** Why a browser's session is over. `unknown`: Florin has no record of it, for example after its database was replaced. */
export type SessionEnd =
  | 'expired'
  | 'idle'
  | 'signed_out'
  | 'ended'
  | 'password_changed'
  | 'role_changed'
  | 'removed'
  | 'too_many'
  | 'unknown';
/** `ended` is there where the browser still has the cookie of a session that is over, `sendsMail` where Florin sends mail. */
export type SessionState =
  | { state: 'no-owner' }
  | { state: 'signed-out'; ended?: SessionEnd; sendsMail?: true }
  | SignedIn;

/** `code-needed`: the password is right and the person has an authenticator. */
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
  /** Joins with the sign-in that the invited e-mail address has already. */
  'POST /invitation/sign-in': { body: { token: string; password: string; code?: string }; answer: SignInAnswer };
  'POST /invitation/sign-in/passkey': { body: { token: string; response: Json }; answer: SignedIn };
  'POST /invitation/passkey/options': { body: { token: string; name: string }; answer: Json };
  /** Asks by mail for a link that sets a new password. The answer is the same whether or not the address has a sign-in. */
  'POST /recovery/request': { body: { email: string }; answer: Done };
  /** A link with which a person who cannot sign in any more sets a new password. */
  'POST /recovery/check': { body: { token: string }; answer: { email: string; opensAt: string } };
  'POST /recovery': { body: { token: string; password: string }; answer: SignedIn };
  /** `earlier`: signs in as before the sign-in was changed, which undoes the change. */
  'POST /sign-in': { body: { email: string; password: string; code?: string; earlier?: true }; answer: SignInAnswer };
  'POST /sign-in/passkey/options': { answer: Json };
  'POST /sign-in/passkey': { body: { response: Json; earlier?: true }; answer: SignedIn };
  'POST /sign-out': { answer: Done };
  /** Creates an account with the user as its owner, and opens it. */
  'POST /accounts': { body: { name: string }; answer: SignedIn };
  /** Opens the session in another account of the user. */
  'POST /session/account': { body: { accountId: string }; answer: SignedIn };
  'POST /prove/passkey/options': { answer: Json };
  /** Step-up: a password with a code or recovery code, or a passkey. */
  'POST /prove': { body: { password?: string; code?: string; response?: Json }; answer: { provenUntil: string } };
  'GET /me/sessions': { answer: { data: SessionRow[] } };
  'DELETE /me/sessions/:id': { answer: Done };
  'POST /me/sessions/end-others': { answer: Done };
  'GET /me/passkeys': { answer: { data: PasskeyRow[] } };
  'POST /me/passkeys/options': { answer: Json };
  'POST /me/passkeys': { body: { name: string; response: Json }; answer: PasskeyRow };
  'DELETE /me/passkeys/:id': { answer: Done };
  /** The otpauth: URI, a QR code of it as SVG, and the secret. It takes effect once the person enters a code. */
  'POST /me/totp/begin': { answer: { uri: string; secret: string; qr: string } };
  'POST /me/totp': { body: { code: string }; answer: { recoveryCodes: string[] } };
  'DELETE /me/totp': { answer: Done };
  'POST /me/recovery-codes': { answer: { recoveryCodes: string[] } };
  'POST /me/password': { body: { password: string }; answer: Done };
  'PATCH /me': { body: { name?: string }; answer: Person };
};
