import { Command, CommanderError } from 'commander';
import { FlorinError } from '../core/errors.ts';
import { addAccountCommands } from './accountCommands.ts';
import { addAlertCommands } from './alertCommands.ts';
import { addBackupCommands } from './backupCommands.ts';
import { addChainCommands } from './chainCommands.ts';
import { ConfigError } from './config.ts';
import { addDoctorCommand } from './doctorCommand.ts';
import { addEraseCommand } from './eraseCommand.ts';
import { addExportCommands } from './exportCommands.ts';
import { addFactoryCommands } from './factoryCommands.ts';
import { addLedgerCommands } from './ledgerCommands.ts';
import { addListenCommand } from './listenCommand.ts';
import { addMasterKeyCommands } from './masterKeyCommands.ts';
import { addMigrateCommand } from './migrateCommand.ts';
import { addPayCommand } from './payCommand.ts';
import { addPeopleCommands } from './peopleCommands.ts';
import { addRestoreCommands } from './restoreCommands.ts';
import { addRotateCommand } from './rotateCommand.ts';
import { addSetupLinkCommand } from './setupLinkCommand.ts';
import { addStartCommand } from './startCommand.ts';
import { addTriggerCommand } from './triggerCommand.ts';
import { addTrustCommand } from './trustCommand.ts';
import { version } from './version.ts';
import { addWalletCommands } from './walletCommands.ts';

/** For scripts. */
const exitCodes = { failed: 1, wrongArguments: 2, notFound: 3 } as const;

const program = new Command('florin')
  .description('Self-hosted crypto payment requests.')
  .version(version)
  // Unlike process.stdout, console ignores that nobody reads any more: florin --help | head
  .configureOutput({ writeOut: text => console.log(text.trimEnd()) })
  .showHelpAfterError('(run it with --help to see the options)')
  .addHelpText(
    'after',
    '\nExit codes: 0 done, 1 failed, 2 wrong arguments, 3 no such account, key, payment, chain, transfer or difference.',
  )
  .exitOverride();

addStartCommand(program);
addAccountCommands(program);
addWalletCommands(program);
addPayCommand(program);
addListenCommand(program);
addTriggerCommand(program);
addChainCommands(program);
addLedgerCommands(program);
addFactoryCommands(program);
addExportCommands(program);
addEraseCommand(program);
addMigrateCommand(program);
addBackupCommands(program, version);
addRestoreCommands(program);
addRotateCommand(program);
addMasterKeyCommands(program);
addAlertCommands(program);
addSetupLinkCommand(program);
addPeopleCommands(program);
addTrustCommand(program);
addDoctorCommand(program);

/** Prints the message of an error. An error with a code that is not of a system call is a bug and prints its stack. */
const explain = (error: unknown): string => {
  if (error instanceof ConfigError || error instanceof FlorinError) return error.message;
  if (error instanceof Error)
    return 'code' in error && !('syscall' in error) ? (error.stack ?? error.message) : error.message;
  return String(error);
};

const exitCodeOf = (error: unknown): number => {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : exitCodes.wrongArguments;
  if (!(error instanceof FlorinError)) return exitCodes.failed;
  if (error.code === 'not_found') return exitCodes.notFound;
  return error.code === 'invalid_request' ? exitCodes.wrongArguments : exitCodes.failed;
};

try {
  await program.parseAsync();
} catch (error) {
  if (!(error instanceof CommanderError)) console.error(`florin: ${explain(error)}`);
  process.exitCode = exitCodeOf(error);
}
