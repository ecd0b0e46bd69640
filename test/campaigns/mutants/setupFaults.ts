// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the faults quote source text.
import { dashboard, type Fault } from './fault.ts';

const walletFaults: Fault[] = [
  {
    name: 'a change of a wallet does not wait',
    file: 'src/engine/dashboard/wallets.ts',
    find: 'sandbox: 0, production: 24',
    replace: 'sandbox: 0, production: 0',
    tests: dashboard('walletChanges'),
  },
  {
    name: 'a change of a wallet is in force before its time',
    file: 'src/storage/wallets.ts',
    find: 'where w.account_id = ${accountId} and w.environment = ${environment} and ${isDue} and ${isNotStopped}',
    replace: 'where w.account_id = ${accountId} and w.environment = ${environment} and ${isNotStopped}',
    tests: dashboard('walletChanges'),
  },
  {
    name: 'a change that was stopped takes effect',
    file: 'src/storage/wallets.ts',
    find: 'where w.account_id = ${accountId} and w.environment = ${environment} and ${isDue} and ${isNotStopped}',
    replace: 'where w.account_id = ${accountId} and w.environment = ${environment} and ${isDue}',
    tests: dashboard('walletChanges'),
  },
  {
    name: 'the time of a change is not sealed',
    file: 'src/vault/vault.ts',
    find: 'fields.takesEffectAtMs === null ? null : BigInt(fields.takesEffectAtMs),',
    replace: 'fields.takesEffectAtMs === null ? null : 1n,',
    tests: dashboard('walletTampering'),
  },
  {
    name: 'the number of a change is not sealed',
    file: 'src/vault/vault.ts',
    find: '      BigInt(fields.version),\n',
    replace: '',
    tests: dashboard('walletTampering'),
  },
  {
    name: 'the seal of a change is not looked at',
    file: 'src/engine/walletSeal.ts',
    find: 'return vault.verifyWalletVersionMac({ ...fields, version, takesEffectAtMs }, mac);',
    replace:
      'return takesEffectAtMs !== null || vault.verifyWalletVersionMac({ ...fields, version, takesEffectAtMs }, mac);',
    tests: dashboard('walletTampering'),
  },
  {
    name: 'a second change takes the place of the first',
    file: 'src/engine/dashboard/wallets.ts',
    find: '  if (!waiting) return;',
    replace: '  if (!waiting || waiting.pending) return;',
    tests: dashboard('walletChanges'),
  },
  {
    name: 'a change needs no fresh proof',
    file: 'src/http/dashboard/walletRoutes.ts',
    find: '    stepUp: true,\n',
    replace: '',
    tests: dashboard('walletChanges'),
  },
  {
    name: "a token's contract may be a treasury",
    file: 'src/engine/treasury.ts',
    find: 'if (isToken(address, networks)) {',
    replace: 'if (isToken(address, networks) && networks.length > 100) {',
    tests: dashboard('wallets'),
  },
  {
    name: 'the factory may be a treasury',
    file: 'src/engine/treasury.ts',
    find: 'new Set([create2Deployer, forwarderFactory, forwarderImplementation])',
    replace: 'new Set([create2Deployer, forwarderImplementation])',
    tests: dashboard('wallets'),
  },
  {
    name: "a payment's address may be a treasury",
    file: 'src/engine/treasury.ts',
    find: 'if (await wasGivenOut(db, address)) {',
    replace: 'if ((await wasGivenOut(db, address)) && networks.length > 100) {',
    tests: dashboard('wallets'),
  },
  {
    name: 'a private key is taken for a typing error',
    file: 'src/engine/treasury.ts',
    find: 'if (!isPrivateKey && !isPhrase) return;',
    replace: 'if (!isPhrase) return;',
    tests: dashboard('wallets'),
  },
  {
    name: 'a wallet is verified that nobody has seen',
    file: 'src/engine/dashboard/wallets.ts',
    find: 'if (inForce.version !== version) {',
    replace: 'if (inForce.version < version) {',
    tests: dashboard('wallets'),
  },
];

const secretFaults: Fault[] = [
  {
    name: 'a secret is revealed without a row of the audit log',
    file: 'src/engine/dashboard/webhooks.ts',
    find: "    await recordAction(context, tx, acting, { action: 'secret.revealed', subject: id, detail: { url: row.url } });\n",
    replace: '',
    tests: dashboard('webhooks'),
  },
  {
    name: 'the secret of callbacks is revealed without a row of the audit log',
    file: 'src/engine/dashboard/settings.ts',
    find: "    await recordAction(context, tx, acting, { action: 'secret.revealed', subject: 'callbackUrl', detail: {} });\n",
    replace: '',
    tests: dashboard('settings'),
  },
  {
    name: 'keys of another account can be ended',
    file: 'src/engine/dashboard/keys.ts',
    find: 'row?.accountId !== scope.accountId || row.environment !== scope.environment',
    replace: '!row || row.environment !== scope.environment',
    tests: dashboard('keys'),
  },
  {
    name: 'an older use of a key takes the place of a newer one',
    file: 'src/storage/keyUses.ts',
    find: 'greatest(u.last_used_at, excluded.last_used_at)',
    replace: 'excluded.last_used_at',
    tests: dashboard('keys'),
  },
];

const lookFaults: Fault[] = [
  {
    name: 'a vector graphic may be a logo',
    file: 'src/engine/dashboard/branding.ts',
    find: "  if (!picture) throw noPicture('The logo must be a PNG, JPEG or WebP picture.');\n  const { kind, width, height } = picture;",
    replace: "  const { kind, width, height } = picture ?? ({ kind: 'png', width: 1, height: 1 } as const);",
    tests: dashboard('branding'),
  },
  {
    name: 'a logo may be as large as it likes to be',
    file: 'src/engine/dashboard/branding.ts',
    find: 'Math.max(width, height) > maxLogoPixels',
    replace: 'Math.max(width, height) > 1_000 * maxLogoPixels',
    tests: dashboard('branding'),
  },
  {
    name: 'a name may turn the direction of what follows it',
    file: 'src/engine/dashboard/branding.ts',
    find: "  if (unseen.test(name)) throw invalid(param, 'Leave out characters that cannot be seen.');\n",
    replace: '',
    tests: dashboard('branding', 'settings'),
  },
  {
    name: 'a colour that cannot be read is shown as it is',
    file: 'src/core/accent.ts',
    find: 'if (!isRead && percent < 100) continue;',
    replace: 'if (!isRead && percent < 0) continue;',
    tests: ['test/core/accent.test.ts'],
  },
];

export const setupFaults: Fault[] = [...walletFaults, ...secretFaults, ...lookFaults];
