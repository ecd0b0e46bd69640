import { rmSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { type Command, Option } from 'commander';
import { create2DeployerSetup, factoryDeployment } from '../chains/evm/deployments.ts';
import { factoryCodeHash } from '../chains/evm/factory.ts';
import { factoryInitCode } from '../chains/evm/forwarder.ts';
import { type Environment, environments } from '../core/environment.ts';
import { hasCode } from '../core/errorCode.ts';
import { FlorinError } from '../core/errors.ts';
import { operatorActing } from '../engine/audit/acting.ts';
import { type ExportedRecovery, exportRecovery, type FactoryFacts } from '../engine/settlement/exportRecovery.ts';
import { type Common, common, print, withAdmin } from './commands.ts';
import { networksOf } from './compose.ts';
import { readNewPassphrase } from './readPassphrase.ts';

export const factoryFacts = (): FactoryFacts => {
  const { address, signer, fundingWei, rawTransaction } = create2DeployerSetup;
  return {
    codeHash: factoryCodeHash,
    creationCode: `0x${Buffer.from(factoryInitCode).toString('hex')}`,
    deployment: { to: factoryDeployment.to, data: factoryDeployment.data },
    deployer: { address, signer, fundingWei: fundingWei.toString(), rawTransaction },
  };
};

const signals = ['SIGINT', 'SIGTERM'] as const;

/** Never replaces a file: an older export may be the only one that can be read. */
const openNew = async (path: string): Promise<FileHandle> => {
  try {
    return await open(path, 'wx', 0o600);
  } catch (error) {
    if (!hasCode(error, 'EEXIST')) throw error;
    throw new FlorinError('conflict', `${path} exists already. Choose another name with --output.`);
  }
};

/**
 * Creates the file before the work and removes it if the work fails. So nobody is asked for a passphrase, and nothing is
 * disclosed, for a file that cannot be written; and a file that exists is whole.
 */
const writeNew = async <T>(path: string, work: () => Promise<T>, textOf: (done: T) => string): Promise<T> => {
  const opening = openNew(path);
  const interrupted = async (): Promise<void> => {
    if (await opening.catch(() => null)) rmSync(path, { force: true });
    console.error('florin: Interrupted. Nothing was exported.');
    process.exit(1);
  };
  for (const signal of signals) process.once(signal, interrupted);
  try {
    const file = await opening;
    try {
      const done = await work();
      await file.writeFile(textOf(done));
      await file.sync();
      return done;
    } catch (error) {
      rmSync(path, { force: true });
      throw error;
    } finally {
      await file.close();
    }
  } finally {
    for (const signal of signals) process.off(signal, interrupted);
  }
};

const summaryOf = ({ payments, lostAddresses }: ExportedRecovery, file: string): string => {
  const lost = lostAddresses === 0 ? '' : ` and ${lostAddresses} addresses of lost payments`;
  return `Wrote ${payments} payments${lost} to ${file}. Keep the passphrase elsewhere.`;
};

/** The file is good without them, but a script that checks the exit code must notice. */
const warnOfLeftOut = ({ leftOut }: ExportedRecovery): void => {
  if (leftOut.length === 0) return;
  console.error(
    `florin: Left out ${leftOut.length} payments that do not match their seals: ${leftOut.join(', ')}. Their money cannot be swept with this file.`,
  );
  process.exitCode = 1;
};

type RecoveryOptions = Common & { account: string; environment: Environment; output?: string };

export const addExportCommands = (program: Command): void => {
  const exports = program.command('export').description('Export data for use without Florin.');
  common(
    exports
      .command('recovery')
      .description('Write an encrypted file with which recovery/built/sweep.mjs sweeps the payments of an account.'),
  )
    .requiredOption('--account <id>', 'Account.')
    .addOption(new Option('--environment <environment>', 'Environment.').choices(environments).makeOptionMandatory())
    .option('--output <file>', 'A new file. Default: the standard output.')
    .action((options: RecoveryOptions) =>
      withAdmin(options, async (admin, config) => {
        const { account: accountId, environment, output } = options;
        const work = async (): Promise<ExportedRecovery> =>
          exportRecovery(admin, operatorActing({ accountId, environment }), {
            passphrase: await readNewPassphrase(config.recoveryPassphrase),
            factory: factoryFacts(),
            networks: networksOf(config, null),
          });
        const textOf = ({ envelope }: ExportedRecovery): string => `${JSON.stringify(envelope)}\n`;
        if (output === undefined) {
          const exported = await work();
          process.stdout.write(textOf(exported));
          return warnOfLeftOut(exported);
        }
        const exported = await writeNew(output, work, textOf);
        const { envelope, ...counts } = exported;
        print(options, { accountId, environment, file: output, ...counts }, summaryOf(exported, output));
        warnOfLeftOut(exported);
      }),
    );
};
