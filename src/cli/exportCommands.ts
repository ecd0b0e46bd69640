import { open } from 'node:fs/promises';
import { type Command, Option } from 'commander';
import { create2DeployerSetup, factoryDeployment } from '../chains/evm/deployments.ts';
import { factoryCodeHash } from '../chains/evm/factory.ts';
import { factoryInitCode } from '../chains/evm/forwarder.ts';
import { type Environment, environments } from '../core/environment.ts';
import { hasCode } from '../core/errorCode.ts';
import { FlorinError } from '../core/errors.ts';
import { operatorActing } from '../engine/dashboard/acting.ts';
import { type ExportedRecovery, exportRecovery, type FactoryFacts } from '../engine/exportRecovery.ts';
import { type Common, common, print, withAdmin } from './commands.ts';
import { networksOf } from './compose.ts';
import { readNewPassphrase } from './readPassphrase.ts';

const factoryFacts = (): FactoryFacts => {
  const { address, signer, fundingWei, rawTransaction } = create2DeployerSetup;
  return {
    codeHash: factoryCodeHash,
    creationCode: `0x${Buffer.from(factoryInitCode).toString('hex')}`,
    deployment: { to: factoryDeployment.to, data: factoryDeployment.data },
    deployer: { address, signer, fundingWei: fundingWei.toString(), rawTransaction },
  };
};

/** Never replaces a file: an older export may be the only one that can be read. */
const writeNew = async (path: string, text: string): Promise<void> => {
  try {
    const file = await open(path, 'wx', 0o600);
    try {
      await file.writeFile(text);
      await file.sync();
    } finally {
      await file.close();
    }
  } catch (error) {
    if (!hasCode(error, 'EEXIST')) throw error;
    throw new FlorinError('conflict', `${path} exists already. Choose another name with --output.`);
  }
};

const summaryOf = ({ payments, leftOut }: ExportedRecovery, file: string): string =>
  [
    `Wrote ${payments} payments to ${file}. Keep the passphrase elsewhere.`,
    ...(leftOut.length === 0
      ? []
      : [`Left out ${leftOut.length} that do not match their seals: ${leftOut.join(', ')}.`]),
  ].join('\n');

type RecoveryOptions = Common & { account: string; environment: Environment; output?: string };

export const addExportCommands = (program: Command): void => {
  const exports = program.command('export').description('Export data for use without Florin.');
  common(
    exports
      .command('recovery')
      .description('Write an encrypted file with which recovery/sweep.mjs sweeps the payments of an account.'),
  )
    .requiredOption('--account <id>', 'Account.')
    .addOption(new Option('--environment <environment>', 'Environment.').choices(environments).makeOptionMandatory())
    .option('--output <file>', 'A new file. Default: the standard output.')
    .action((options: RecoveryOptions) =>
      withAdmin(options, async (admin, config) => {
        const { account: accountId, environment, output } = options;
        const passphrase = await readNewPassphrase(config.recoveryPassphrase);
        const exported = await exportRecovery(admin, operatorActing({ accountId, environment }), {
          passphrase,
          factory: factoryFacts(),
          networks: networksOf(config, null),
        });
        const text = `${JSON.stringify(exported.envelope)}\n`;
        if (output === undefined) {
          process.stdout.write(text);
          if (exported.leftOut.length > 0) console.error(summaryOf(exported, 'the standard output'));
          return;
        }
        await writeNew(output, text);
        const { payments, leftOut } = exported;
        print(options, { accountId, environment, file: output, payments, leftOut }, summaryOf(exported, output));
      }),
    );
};
