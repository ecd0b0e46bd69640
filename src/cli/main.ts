import { Command, CommanderError } from 'commander';
import { FlorinError } from '../core/errors.ts';
import { addAccountCommands } from './accountCommands.ts';
import { addChainCommands } from './chainCommands.ts';
import { ConfigError } from './config.ts';
import { addDoctorCommand } from './doctorCommand.ts';
import { addListenCommand } from './listenCommand.ts';
import { addMigrateCommand } from './migrateCommand.ts';
import { addPayCommand } from './payCommand.ts';
import { addSetupLinkCommand } from './setupLinkCommand.ts';
import { addStartCommand } from './startCommand.ts';
import { addTriggerCommand } from './triggerCommand.ts';

const program = new Command('florin')
  .description('Self-hosted crypto payment requests.')
  .version('0.1.0')
  .showHelpAfterError('(add --help for the options)')
  .exitOverride();

addStartCommand(program);
addAccountCommands(program);
addPayCommand(program);
addListenCommand(program);
addTriggerCommand(program);
addChainCommands(program);
addMigrateCommand(program);
addSetupLinkCommand(program);
addDoctorCommand(program);

/** People get a sentence; a stack is for bugs. */
const explain = (error: unknown): string => {
  if (error instanceof ConfigError || error instanceof FlorinError) return error.message;
  if (error instanceof Error)
    return 'code' in error && !('syscall' in error) ? (error.stack ?? error.message) : error.message;
  return String(error);
};

try {
  await program.parseAsync();
} catch (error) {
  if (error instanceof CommanderError) {
    process.exitCode = error.exitCode;
  } else {
    console.error(`florin: ${explain(error)}`);
    process.exitCode = 1;
  }
}
