import type { AuditAction } from './auditActions.ts';
import type { Environment } from './environment.ts';

/** What a mail tells. It is rendered when it is sent. */
export type MailNotice =
  | {
      readonly kind: 'security';
      readonly accountName: string;
      readonly environment: Environment | null;
      readonly action: AuditAction;
      readonly actorName: string;
      readonly subject: string | null;
      readonly at: string;
    }
  | {
      readonly kind: 'invitation';
      readonly accountName: string;
      readonly invitedBy: string;
      readonly link: string;
      readonly expiresAt: string;
    }
  | { readonly kind: 'recovery'; readonly link: string; readonly opensAt: string; readonly expiresAt: string }
  | { readonly kind: 'test'; readonly accountName: string };

export type Mail = { readonly to: string; readonly notice: MailNotice };

/** Null if it was sent. The reason contains no address. `isPermanent`: the server refused this mail for good. */
export type MailResult = { readonly reason: string; readonly isPermanent: boolean } | null;
/** When the signal aborts, the attempt ends at once. The server may have accepted the mail by then. */
export type SendMail = (mail: Mail, signal?: AbortSignal) => Promise<MailResult>;
