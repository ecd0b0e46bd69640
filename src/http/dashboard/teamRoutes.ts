import { Type } from 'typebox';
import { roles } from '../../core/access/rights.ts';
import type { Invitation, Member } from '../../core/api/teamApi.ts';
import { invalid } from '../../core/errors.ts';
import { keyFates } from '../../engine/access/endMembership.ts';
import { changeRole, invite, removeMember, withdrawInvitation } from '../../engine/access/team.ts';
import type { Context } from '../../engine/context.ts';
import { perform } from '../../engine/perform.ts';
import { type AccessLink, listInvitations } from '../../storage/access/accessLinks.ts';
import { listMadeKeys } from '../../storage/access/keys.ts';
import { listMembers, type MemberRow } from '../../storage/access/memberships.ts';
import { listAuditRows } from '../../storage/audit/auditLog.ts';
import { managerOf } from './actingOf.ts';
import { auditObject } from './auditObject.ts';
import { body, email } from './bodies.ts';
import { type DashboardRoute, route } from './dashboardRoute.ts';

const role = Type.Union(roles.map(each => Type.Literal(each)));
const done = { done: true } as const;
const manage = { action: 'team.manage', stepUp: 'account' } as const;

const memberObject = (row: MemberRow): Member => ({
  id: row.id,
  email: row.email,
  name: row.name,
  role: row.role,
  hasSecondFactor: row.totpSecret !== null || row.passkeys > 0,
  lastSeenAt: row.lastSeenAt?.toISOString() ?? null,
  createdAt: row.joinedAt.toISOString(),
});

const invitationObject = (link: AccessLink): Invitation => ({
  id: link.id,
  email: link.email ?? '',
  role: link.role,
  createdAt: link.createdAt.toISOString(),
  expiresAt: link.expiresAt.toISOString(),
});

const usualRows = 50;
const mostRows = 200;
/** Above every sequence number. */
const noEnd = '9223372036854775807';

const auditQuery = Type.Object(
  {
    action: Type.Optional(Type.String({ maxLength: 100 })),
    actor: Type.Optional(Type.String({ maxLength: 100 })),
    before: Type.Optional(Type.String({ pattern: '^[0-9]{1,18}$' })),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: mostRows })),
  },
  { additionalProperties: false },
);

const auditRoute = (context: Context): DashboardRoute =>
  route({
    name: 'GET /audit',
    action: 'audit.read',
    query: auditQuery,
    async handle({ person, query }) {
      const { action = null, actor = null, before = noEnd, limit = usualRows } = query;
      const filter = { action, actor, before, limit: limit + 1 };
      const rows = await listAuditRows(context.listDb, person.accountId, filter);
      const data = rows.slice(0, limit).map(auditObject);
      return { data, next: rows.length > limit ? data.at(-1)!.id : null };
    },
  });

/** The team and the audit log. */
export const teamRoutes = (context: Context): DashboardRoute[] => [
  route({
    name: 'GET /team',
    action: 'team.read',
    async handle({ person: { accountId } }) {
      const [people, links] = await Promise.all([
        listMembers(context.db, accountId),
        listInvitations(context.db, accountId),
      ]);
      return { members: people.map(memberObject), invitations: links.map(invitationObject) };
    },
  }),
  route({
    ...manage,
    name: 'POST /team/invitations',
    body: body({ email, role }),
    async handle(call) {
      const made = await perform(context, managerOf(call), null, invite(context, call.person, call.body));
      return { ...invitationObject(made), link: made.link, isMailed: made.isMailed };
    },
  }),
  route({
    ...manage,
    name: 'DELETE /team/invitations/:id',
    async handle(call) {
      await perform(context, managerOf(call), null, withdrawInvitation(call.person, call.params.id!));
      return done;
    },
  }),
  route({
    name: 'GET /team/:id/keys',
    action: 'team.manage',
    async handle({ person, params }) {
      const rows = await listMadeKeys(context.db, person.accountId, params.id!);
      return { data: rows.map(({ id, name, hint, environment }) => ({ id, name, hint, environment })) };
    },
  }),
  route({
    ...manage,
    name: 'PATCH /team/:id',
    body: body({ role }),
    handle: async call =>
      memberObject(
        await perform(context, managerOf(call), null, changeRole(call.person, call.params.id!, call.body.role)),
      ),
  }),
  route({
    ...manage,
    name: 'DELETE /team/:id',
    query: Type.Object(
      { keys: Type.Optional(Type.Union(keyFates.map(fate => Type.Literal(fate)))) },
      { additionalProperties: false },
    ),
    async handle(call) {
      const { person, params, query } = call;
      if (params.id === person.personId) throw invalid(undefined, 'You cannot remove yourself. Ask another owner.');
      await perform(context, managerOf(call), null, removeMember(person, params.id!, query.keys));
      return done;
    },
  }),
  auditRoute(context),
];
