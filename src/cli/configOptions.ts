import type { Command } from 'commander';
import { settings } from './settings.ts';

/** Adds the options of the settings table, with their defaults and help texts. */
export const addConfigOptions = (command: Command): Command => {
  for (const { flag, variable, fallback, help } of Object.values(settings)) {
    if (flag) command.option(flag, `${help} [${variable}${fallback === null ? '' : `, default ${fallback}`}]`);
  }
  return command;
};
