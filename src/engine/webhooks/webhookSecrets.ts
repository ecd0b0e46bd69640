import type { Environment, Scope } from '../../core/environment.ts';
import { createRecentMap } from '../../core/recentMap.ts';
import type { Vault } from '../../vault/vault.ts';

/** The contexts that these secrets are sealed for. */
export const endpointSecretContext = (scope: Scope, id: string): string[] => [
  'webhook secret',
  scope.accountId,
  scope.environment,
  id,
];
export const callbackSecretContext = (accountId: string, environment: Environment): string[] => [
  'callback secret',
  accountId,
  environment,
];

const keptSecrets = 10_000;

/** Opens the secrets that sign a delivery, and caches them. */
export const createSecretOpener = (vault: Vault) => {
  const opened = createRecentMap<readonly string[]>(keptSecrets);
  return (delivery: Scope & { endpointId: string | null; secrets: string }): readonly string[] => {
    const { accountId, environment, endpointId } = delivery;
    const context =
      endpointId === null ? callbackSecretContext(accountId, environment) : endpointSecretContext(delivery, endpointId);
    // The context is part of the key: a sealed secret copied to another row must not open there.
    const key = `${context.join(' ')} ${delivery.secrets}`;
    const cached = opened.get(key);
    if (cached !== undefined) return cached;
    const secrets = delivery.secrets
      .split(' ')
      .map(sealed => vault.open(Buffer.from(sealed, 'base64'), context).toString('utf8'));
    opened.set(key, secrets);
    return secrets;
  };
};
