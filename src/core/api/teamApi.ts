import type { Role } from '../access/rights.ts';

export type Member = {
  id: string;
  email: string;
  name: string;
  role: Role;
  hasSecondFactor: boolean;
  lastSeenAt: string | null;
  createdAt: string;
};
export type Invitation = { id: string; email: string; role: Role; createdAt: string; expiresAt: string };

export type AuditRow = {
  id: string;
  at: string;
  environment: 'sandbox' | 'production' | null;
  /** A key, a person, the operator at the command line, or Florin itself. */
  actor: { kind: 'key' | 'person' | 'operator' | 'system'; id: string | null; name: string };
  /** A stable identifier: `key.created`, `wallet.change_requested`, `secret.revealed`. */
  action: string;
  /** The id or network that was acted on. */
  subject: string | null;
  detail: Record<string, unknown>;
  address: string | null;
};

export type TeamApi = {
  'GET /team': { answer: { members: Member[]; invitations: Invitation[] } };
  /** The link is shown once. `isMailed`: it is also sent to the invited person. */
  'POST /team/invitations': {
    body: { email: string; role: Role };
    answer: Invitation & { link: string; isMailed: boolean };
  };
  'DELETE /team/invitations/:id': { answer: { done: true } };
  'PATCH /team/:id': { body: { role: Role }; answer: Member };
  /** The keys that a member made and that still work. */
  'GET /team/:id/keys': {
    answer: { data: { id: string; name: string; hint: string; environment: 'sandbox' | 'production' }[] };
  };
  /** If the member made keys that still work, `keys` says what becomes of them. */
  'DELETE /team/:id': { query: { keys?: 'keep' | 'revoke' }; answer: { done: true } };
  'GET /audit': {
    query: { action?: string; actor?: string; before?: string; limit?: number };
    answer: { data: AuditRow[]; next: string | null };
  };
};
