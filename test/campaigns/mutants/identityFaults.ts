// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the faults quote source text.
import { dashboard, type Fault, vault } from './fault.ts';

const gate: Fault[] = [
  {
    name: 'the dashboard takes changes from any origin',
    file: 'src/http/dashboard/dashboardGate.ts',
    find: 'headers.origin !== origin || (site',
    replace: 'headers.origin === undefined || (site',
    tests: dashboard('gate', 'roles'),
  },
  {
    name: 'a missing origin is taken for our own',
    file: 'src/http/dashboard/dashboardGate.ts',
    find: 'headers.origin !== origin || (site',
    replace: '(headers.origin ?? origin) !== origin || (site',
    tests: dashboard('gate'),
  },
  {
    name: 'roles are not looked at',
    file: 'src/http/dashboard/dashboardGate.ts',
    find: '!mayDo(person.role, row.action)',
    replace: "row.action === 'team.owners'",
    tests: dashboard('roles'),
  },
  {
    name: 'a proof never ends',
    file: 'src/storage/dashboard/sessions.ts',
    find: 'case when s.proven_until > clock_timestamp() then s.proven_until end',
    replace: 's.proven_until',
    tests: dashboard('sessions'),
  },
  {
    name: 'an idle session lives on',
    file: 'src/storage/dashboard/sessions.ts',
    find: 's.expires_at > clock_timestamp() and p.removed_at is null\n      and s.last_seen_at > clock_timestamp() - make_interval(secs => $2)',
    replace: 's.expires_at > clock_timestamp() and p.removed_at is null and $2 > 0',
    tests: dashboard('sessions'),
  },
  {
    name: 'the dashboard is also at the public addresses',
    file: 'src/http/dashboard/dashboardSite.ts',
    find: 'if (isForUs(request) !== isOurs(request, route)) throw nothingHere();',
    replace: 'if (isForUs(request) && !isOurs(request, route)) throw nothingHere();',
    tests: dashboard('ownOrigin'),
  },
];

const signingIn: Fault[] = [
  {
    name: 'a code works twice',
    file: 'src/vault/totp.ts',
    find: 'isRight && step > lastStep',
    replace: 'isRight && step >= lastStep',
    tests: [...vault('totp'), ...dashboard('signIn')],
  },
  {
    name: 'of two sign-ins with one code both succeed',
    file: 'src/engine/dashboard/secondFactors.ts',
    find: "return (await takeTotpStep(tx, accountId, id, step)) ? 'totp' : null;",
    replace: "return 'totp';",
    tests: dashboard('signIn'),
  },
  {
    name: 'a recovery code works for ever',
    file: 'src/storage/dashboard/secondFactors.ts',
    find: 'and hash = $3 and used_at is null returning',
    replace: 'and hash = $3 returning',
    tests: dashboard('signIn'),
  },
  {
    name: 'the right password opens a locked account',
    file: 'src/storage/dashboard/signInFailures.ts',
    find: 'where f.failures >= g.free and',
    replace: 'where f.failures >= g.free + 1000 and',
    tests: dashboard('lockOut'),
  },
  {
    name: 'half a sign-in forgives all guesses',
    file: 'src/engine/dashboard/lockOut.ts',
    find: 'undo: tx => undoAll(tx, [own, ...shared]),',
    replace: 'undo: tx => clearGuesses(tx, own.subject),',
    tests: dashboard('lockOut'),
  },
  {
    name: 'first guesses at the same time are one',
    file: 'src/storage/dashboard/signInFailures.ts',
    find: 'where subject = any($1) order by subject for update',
    replace: 'where subject = any($1) order by subject',
    tests: dashboard('lockOut'),
  },
  {
    name: 'an answer of a passkey is good twice',
    file: 'src/storage/dashboard/passkeys.ts',
    find: 'delete from passkey_challenges where challenge = $1 and purpose = $2 and person_id is not distinct from $3\n    returning',
    replace:
      'update passkey_challenges set purpose = purpose where challenge = $1 and purpose = $2 and person_id is not distinct from $3\n    returning',
    tests: dashboard('passkeys'),
  },
  {
    name: 'a passkey signs in without its person',
    file: 'src/vault/passkeys.ts',
    find: 'expectedRPID: party.rpId,\n      requireUserVerification: true,\n      credential:',
    replace: 'expectedRPID: party.rpId,\n      requireUserVerification: false,\n      credential:',
    tests: dashboard('passkeys'),
  },
  {
    name: 'a new password leaves old sessions open',
    file: 'src/engine/dashboard/ownAccount.ts',
    find: "const ended = await endSessions(tx, accountId, personId, person.sessionId, 'password_changed');",
    replace: "const ended = 0 * (await endSessions(tx, accountId, person.sessionId, null, 'password_changed'));",
    tests: dashboard('sessions'),
  },
];

const people: Fault[] = [
  {
    name: 'a setup link works after there is an owner',
    file: 'src/engine/dashboard/joinByLink.ts',
    find: "if (!link || (kind === 'setup' && (await hasOwner(context.db, link.accountId)))) throw voidLink();",
    replace: 'if (!link) throw voidLink();',
    tests: dashboard('setupLink'),
  },
  {
    name: 'two setup links make two owners',
    file: 'src/engine/dashboard/joinByLink.ts',
    find: 'await lockTeam(tx, link.accountId);\n',
    replace: '',
    tests: dashboard('setupLink'),
  },
  {
    name: 'the last owner may go',
    file: 'src/engine/dashboard/team.ts',
    find: "becomes !== 'owner' && owners.length === 1",
    replace: "becomes === 'nobody' && owners.length === 1",
    tests: dashboard('team'),
  },
  {
    name: 'an admin makes owners',
    file: 'src/engine/dashboard/team.ts',
    find: "member.role, ...(becomes === 'nobody' ? [] : [becomes])",
    replace: 'member.role',
    tests: dashboard('team'),
  },
  {
    name: 'a member of another account can be changed',
    file: 'src/storage/dashboard/people.ts',
    find: 'from people p where p.account_id = $1 and p.id = $2 and p.removed_at is null for update of p',
    replace: 'from people p where $1 <> $2 and p.id = $2 and p.removed_at is null for update of p',
    tests: dashboard('team'),
  },
  {
    name: "an audit row's detail is not authenticated",
    file: 'src/vault/vault.ts',
    find: '      fields.subject,\n      fields.detail,\n',
    replace: '      fields.subject,\n',
    tests: dashboard('audit'),
  },
  {
    name: 'the audit chain may end early',
    file: 'src/engine/verifyRecords.ts',
    find: 'if (sequence < BigInt(head.sequence))',
    replace: 'if (sequence === 0n && BigInt(head.sequence) > 0n)',
    tests: dashboard('audit'),
  },
];

/** Who is who in the dashboard, and what they may do. */
export const identityFaults: readonly Fault[] = [...gate, ...signingIn, ...people];
