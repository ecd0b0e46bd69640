import { earlierHours } from '../core/access/ownerGuard.ts';
import { isPersonal, isUrgent } from '../core/announcements.ts';
import type { AuditAction } from '../core/auditActions.ts';
import { html, markupOf } from '../core/html.ts';
import type { MailNotice } from '../core/mailNotice.ts';

export type Message = { readonly subject: string; readonly text: string; readonly html: string };

/** What somebody did, after their name. */
export const actText: Partial<Readonly<Record<AuditAction, string>>> = {
  'key.created': 'created a live API key',
  'key.rotated': 'rotated a live API key',
  'person.guesses_noticed': 'noticed guesses at a password from many addresses',
  'person.joined': 'joined as an owner',
  'person.passkey_added': 'added a passkey',
  'person.passkey_removed': 'removed a passkey',
  'person.password_changed': 'changed the password',
  'person.recovered': 'set a new password with a recovery link',
  'person.recovery_codes_renewed': 'created new recovery codes',
  'person.recovery_link_created': 'created a link that sets a new password',
  'person.removed': 'removed an owner',
  'person.role_changed': 'made somebody an owner, or an owner something else',
  'person.sign_in_restored': 'undid a change of the sign-in by signing in as before',
  'person.totp_added': 'turned on an authenticator app',
  'person.totp_removed': 'turned off an authenticator app',
  'restore.reviewed': 'opened production after a restore from a backup',
  'secret.revealed': 'revealed a signing secret',
  'secret.rotated': 'rotated a signing secret',
  'wallet.change_approved': 'approved a wallet change',
  'wallet.change_in_force': 'put a requested wallet change into force',
  'wallet.change_requested': 'requested a wallet change',
  'wallet.change_stopped': 'stopped a wallet change',
  'wallet.set': 'set a wallet',
  'webhook.changed': 'changed a webhook endpoint',
  'webhook.created': 'added a webhook endpoint',
  'webhook.deleted': 'deleted a webhook endpoint',
};

const timeOf = (iso: string): string => `${iso.slice(0, 16).replace('T', ' ')} UTC`;

/** One line, whatever people called themselves. */
const oneLine = (text: string): string => text.replaceAll(/[\p{Cc}\u2028\u2029]+/gu, ' ');

const shownName = 40;
/** More digits than a year or a house number has could be dialled. */
const mostDigits = 4;

/**
 * A name in a mail to a stranger, who did not ask for it. Links, addresses and telephone numbers of others come to nothing,
 * and so do long texts.
 */
const harmless = (name: string): string => {
  const words = name.replaceAll(/[^\p{L}\p{M}\p{N} '&-]+/gu, ' ');
  const numbered = (words.match(/\p{N}/gu) ?? []).length > mostDigits ? words.replaceAll(/\p{N}+/gu, ' ') : words;
  const line = numbered.replaceAll(/ +/g, ' ').trim() || '…';
  return line.length > shownName ? `${line.slice(0, shownName).trim()}…` : line;
};

const manyChanges =
  'If there are many such changes within an hour, no message is sent about the later ones. The dashboard shows all of them.';

const undoable = `If you can no longer sign in as before, choose “My sign-in was changed” on the sign-in page. For ${earlierHours} hours after the change, that earlier sign-in undoes it.`;

type Words = { readonly subject: string; readonly lines: readonly string[]; readonly link?: string };

const wordsOf = (notice: MailNotice): Words => {
  switch (notice.kind) {
    case 'security': {
      const { accountName, actorName, action, subject, at } = notice;
      return {
        subject: `Security notice for ${accountName}`,
        lines: [
          `${actorName} ${actText[action] ?? `did “${action}”`} in the account ${accountName}.`,
          `When: ${timeOf(at)}.${subject === null ? '' : ` What: ${subject}.`}`,
          'If you did not expect this, open the dashboard now: stop wallet changes, end other sessions and change your password.',
          ...(isPersonal(action) ? [undoable] : []),
          ...(isUrgent(action) ? [] : [manyChanges]),
        ],
      };
    }
    case 'invitation': {
      const { accountName, invitedBy, link, expiresAt } = notice;
      return {
        subject: 'Invitation to an account',
        lines: [
          `“${harmless(invitedBy)}” invited you to the account “${harmless(accountName)}”.`,
          `The link works once, until ${timeOf(expiresAt)}. If you do not know the sender, ignore this message.`,
        ],
        link,
      };
    }
    case 'recovery': {
      const { link, opensAt, expiresAt } = notice;
      return {
        subject: 'Set a new password',
        lines: [
          'Somebody asked for a link to set a new password for your sign-in.',
          `The link works once, from ${timeOf(opensAt)} until ${timeOf(expiresAt)}. It removes your authenticator app and your passkeys, and ends all sessions.`,
          'If it was not you, sign in. If a wallet change waits, stop that first. Then change your password, which ends the link.',
        ],
        link,
      };
    }
    case 'test':
      return {
        subject: `Test message for ${notice.accountName}`,
        lines: ['This is a test message. Florin can send e-mail.'],
      };
  }
};

export const renderMail = (notice: MailNotice): Message => {
  const words = wordsOf(notice);
  const { link } = words;
  const lines = words.lines.map(oneLine);
  const page = html`<!doctype html><html lang="en"><body style="font-family:sans-serif;line-height:1.5">${lines.map(
    line => html`<p>${line}</p>`,
  )}${link === undefined ? null : html`<p><a href="${link}">${link}</a></p>`}</body></html>`;
  return {
    subject: oneLine(words.subject),
    text: `${[...lines, ...(link === undefined ? [] : [link])].join('\n\n')}\n`,
    html: markupOf(page),
  };
};
