import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { Log } from '../core/log.ts';

const longestMs = 10_000;

/**
 * Says that Florin is ready, which `systemctl start` waits for in a unit with Type=notify. A program of systemd says it:
 * systemd listens on a Unix datagram socket, and Node has none.
 */
export const tellSystemd = async (log: Log): Promise<void> => {
  try {
    await promisify(execFile)('systemd-notify', ['--ready'], { timeout: longestMs });
  } catch (error) {
    log.warn({ err: error }, 'systemd could not be told that Florin is ready');
  }
};
