import { forwarderFactory } from '../chains/evm/forwarder.ts';
import type { Network } from '../core/registry/networks.ts';
import type { PaymentRow } from '../storage/payments.ts';
import { forwarderPayments } from '../storage/recovery.ts';
import { type RecoveryEnvelope, sealLines } from '../vault/recoveryEnvelope.ts';
import { type AdminContext, resolveAccount } from './accounts.ts';
import { type Acting, recordAction } from './dashboard/acting.ts';
import { hasValidSeal } from './paymentAddress.ts';

const pageSize = 1_000;

/** What the factory needs to be deployed and called without Florin. */
export type FactoryFacts = {
  readonly codeHash: string;
  readonly creationCode: string;
  readonly deployment: { readonly to: string; readonly data: string };
  readonly deployer: {
    readonly address: string;
    readonly signer: string;
    readonly fundingWei: string;
    readonly rawTransaction: string;
  };
};

export type ExportedRecovery = {
  readonly envelope: RecoveryEnvelope;
  readonly payments: number;
  /** Payments that do not match their seals. They are left out: their treasury may be a thief's. */
  readonly leftOut: readonly string[];
};

const chainIdOf = (caip2: string): number => Number(caip2.slice('eip155:'.length));

const networkFacts = ({ slug, chainId, nativeCurrency, currencies }: Network) => ({
  network: slug,
  chainId,
  nativeCurrency,
  tokens: currencies.flatMap(({ symbol, contractAddress: contract, decimals }) =>
    contract === null ? [] : [{ symbol, contract, decimals }],
  ),
});

/**
 * Everything that sweeps the account's forwarders without Florin, encrypted to a passphrase. It discloses the salts, so
 * the audit log has a row.
 */
export const exportRecovery = async (
  context: AdminContext,
  acting: Acting,
  {
    passphrase,
    factory,
    networks,
  }: { readonly passphrase: string; readonly factory: FactoryFacts; readonly networks: readonly Network[] },
): Promise<ExportedRecovery> => {
  const { scope } = acting;
  await resolveAccount(context, scope.accountId);
  const leftOut: string[] = [];
  let payments = 0;
  const header = {
    format: 'florin-recovery',
    version: 1,
    createdAt: new Date(context.clock.nowMs()).toISOString(),
    ...scope,
    factory: { address: forwarderFactory, ...factory },
    networks: networks.filter(({ environment }) => environment === scope.environment).map(networkFacts),
  };
  const lineOf = (row: PaymentRow): string => {
    const { id, network, caip2, currency, contract, decimals, treasury, address } = row;
    const salt = `0x${Buffer.from(context.vault.salt(scope, BigInt(row.derivationIndex))).toString('hex')}`;
    const fields = { id, network, chainId: chainIdOf(caip2), currency, contract, decimals, treasury, salt, address };
    return `${JSON.stringify(fields)}\n`;
  };
  const lines = async function* (): AsyncGenerator<string> {
    yield `${JSON.stringify(header)}\n`;
    for (let after = ''; ; ) {
      const rows = await forwarderPayments(context.db, scope, after, pageSize);
      if (rows.length === 0) return;
      after = rows.at(-1)!.id;
      const { true: authentic = [], false: tampered = [] } = Object.groupBy(
        rows,
        row => `${hasValidSeal(context, row)}`,
      );
      leftOut.push(...tampered.map(({ id }) => id));
      payments += authentic.length;
      yield authentic.map(lineOf).join('');
    }
  };
  const envelope = await sealLines(passphrase, lines());
  const detail = { payments, leftOut: leftOut.length };
  await context.db.transaction(tx =>
    recordAction(context, tx, acting, { action: 'recovery.exported', subject: null, detail }),
  );
  return { envelope, payments, leftOut };
};
