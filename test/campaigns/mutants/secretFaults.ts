import type { Fault } from './fault.ts';

const seals: readonly Fault[] = [
  {
    harm: 'A payment whose address was changed in the database would be shown.',
    file: 'src/engine/payments/paymentAddress.ts',
    find: 'hasValidSeal(context, row) && derivesTo',
    replace: 'hasValidSeal(context, row) || derivesTo',
    tests: ['api/tampering'],
  },
  {
    harm: 'A checkout page would show an address that was not checked.',
    file: 'src/engine/payments/checkoutView.ts',
    find: 'assertAuthentic(context, row);',
    replace: '',
    tests: ['api/checkoutTampering'],
  },
  {
    harm: 'The amount of a payment could be changed in the database.',
    file: 'src/vault/vault.ts',
    find: '      fields.amount,\n',
    replace: '',
    tests: ['vault/vault'],
  },
  {
    harm: 'A payout address that was changed in the database would be used.',
    file: 'src/engine/wallets/walletSeal.ts',
    find: 'return vault.verifyWalletVersionMac(',
    replace: 'return version > 0 || vault.verifyWalletVersionMac(',
    tests: ['dashboard/walletTampering'],
  },
  {
    harm: 'A row of the audit log could be changed unnoticed.',
    file: 'src/vault/vault.ts',
    find: '      fields.detail,\n',
    replace: '',
    tests: ['dashboard/audit'],
  },
  {
    harm: 'The newest rows of the audit log could be deleted unnoticed.',
    file: 'src/engine/chain/verifyRecords.ts',
    find: 'if (sequence < BigInt(head.sequence))',
    replace: 'if (sequence < 0n)',
    tests: ['dashboard/audit'],
  },
];

const apiKeys: readonly Fault[] = [
  {
    harm: 'Every key could do everything.',
    file: 'src/http/edge/authenticate.ts',
    find: '!caller.scopes.includes(permission)',
    replace: 'caller.scopes.length === 0',
    tests: ['api/auth'],
  },
  {
    harm: 'A revoked key would still work.',
    file: 'src/http/edge/authenticate.ts',
    find: 'if (caller.revokedAt)',
    replace: 'if (caller.revokedAt && caller.expiresAt)',
    tests: ['api/auth'],
  },
  {
    harm: 'An expired key would still work.',
    file: 'src/http/edge/authenticate.ts',
    find: 'caller.expiresAt.getTime() <= nowMs()',
    replace: 'caller.expiresAt.getTime() <= 0',
    tests: ['api/auth'],
  },
];

const webhooks: readonly Fault[] = [
  {
    harm: 'A webhook secret would be stored in clear text.',
    file: 'src/engine/webhooks/webhookEndpoints.ts',
    find: 'secret: context.vault.seal(secret, endpointSecretContext(scope, id))',
    replace: 'secret: Buffer.from(secret)',
    tests: ['api/webhooks'],
  },
  {
    harm: 'A webhook secret that was replaced would sign for ever.',
    file: 'src/storage/webhooks/deliveries.ts',
    find: 'where old.until > clock_timestamp()',
    replace: 'where true',
    tests: ['deliveries/signatures'],
  },
  {
    harm: 'The time of a webhook could be changed under its signature.',
    file: 'src/webhooks/sign.ts',
    find: '.update(signed).update(body)',
    replace: '.update(body)',
    tests: ['webhooks/sign'],
  },
  {
    harm: "A webhook could reach the cloud's metadata service.",
    file: 'src/webhooks/guard.ts',
    find: "'169.254.0.0/16'",
    replace: "'169.254.0.0/24'",
    tests: ['webhooks/guard'],
  },
  {
    harm: 'A name with one public and one private address would be connected to.',
    file: 'src/webhooks/connect.ts',
    find: 'for (const address of addresses) refuse',
    replace: 'for (const address of addresses.slice(0, 1)) refuse',
    tests: ['webhooks/egress'],
  },
  {
    harm: 'A webhook could reach services on the machine of a live Florin.',
    file: 'src/cli/createContext.ts',
    find: "environment === 'sandbox' && config.allowLoopbackWebhooks",
    replace: 'config.allowLoopbackWebhooks',
    tests: ['api/webhooksUrl'],
  },
];

const people: readonly Fault[] = [
  {
    harm: 'Another site could act for somebody who is signed in.',
    file: 'src/http/dashboard/dashboardGate.ts',
    find: 'headers.origin !== origin ||',
    replace: 'headers.origin === undefined ||',
    tests: ['dashboard/gate'],
  },
  {
    harm: 'Every role could do everything.',
    file: 'src/http/dashboard/dashboardGate.ts',
    find: '!mayDo(person.role, row.action)',
    replace: "row.action === 'team.owners'",
    tests: ['dashboard/roles'],
  },
  {
    harm: 'A session that nobody uses would stay open.',
    file: 'src/storage/access/sessions.ts',
    find: 'and s.last_seen_at > clock_timestamp() - make_interval(secs => $2)`',
    replace: 'and $2 > 0',
    tests: ['dashboard/sessions'],
  },
  {
    harm: 'A recovery link would work before another owner could object.',
    file: 'src/storage/access/recoveryLinks.ts',
    find: ' and t.opens_at <= clock_timestamp()',
    replace: '',
    tests: ['dashboard/memberships'],
  },
  {
    harm: 'What a person does would not be in the audit log.',
    file: 'src/engine/access/team.ts',
    find: "deed: { action: 'invitation.created', subject: id, detail: { email, role } },",
    replace: 'deed: null,',
    tests: ['access/dashboardWrites'],
  },
  {
    harm: 'What a key does would not be in the audit log.',
    file: 'src/engine/perform.ts',
    find: 'for (const each of deeds)',
    replace: "for (const each of acting.actor.kind === 'key' ? [] : deeds)",
    tests: ['access/apiWrites'],
  },
  {
    harm: 'One proof of identity would allow critical changes for ever.',
    file: 'src/storage/access/sessions.ts',
    find: 'case when s.proven_until > clock_timestamp() then s.proven_until end',
    replace: 's.proven_until',
    tests: ['dashboard/sessions'],
  },
  {
    harm: 'A code of an authenticator app would work twice.',
    file: 'src/vault/totp.ts',
    find: 'step > lastStep',
    replace: 'step >= lastStep',
    tests: ['vault/totp'],
  },
  {
    harm: 'A recorded answer of a passkey would work again.',
    file: 'src/storage/access/passkeys.ts',
    find: 'delete from passkey_challenges where challenge = $1',
    replace: 'update passkey_challenges set purpose = purpose where challenge = $1',
    tests: ['dashboard/passkeys'],
  },
  {
    harm: 'Passwords could be guessed without end.',
    file: 'src/storage/access/signInFailures.ts',
    find: 'where f.failures >= g.free and',
    replace: 'where f.failures >= g.free + 1000 and',
    tests: ['dashboard/lockOut'],
  },
  {
    harm: 'A cookie of a device could be forged, and with it guesses without end.',
    file: 'src/engine/access/knownDevices.ts',
    find: 'vault.verifyDeviceMac(subject, id, mac)',
    replace: 'mac.length > 0',
    tests: ['dashboard/guesses'],
  },
  {
    harm: 'A thousand addresses could use up the tries of everybody else.',
    file: 'src/engine/access/lockOut.ts',
    find: 'ceilings[Math.min(before, ceilings.length - 1)]!',
    replace: 'ceilings[0]',
    tests: ['dashboard/guesses'],
  },
  {
    harm: 'A stolen password could change a live wallet.',
    file: 'src/engine/access/proofNeeded.ts',
    find: "environment === 'production'",
    replace: 'isLive && hasSecondFactor',
    tests: ['dashboard/secondFactor'],
  },
  {
    harm: 'Breached passwords would be accepted.',
    file: 'src/engine/access/people.ts',
    find: "if (isBreached(password)) throw invalid('password', breached);",
    replace: '',
    tests: ['dashboard/secondFactor'],
  },
];

/** Vault, seals, API keys, signatures, egress, sessions and second factors. */
export const secretFaults: readonly Fault[] = [...seals, ...apiKeys, ...webhooks, ...people];
