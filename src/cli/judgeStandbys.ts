import type { Standbys } from '../storage/standbys.ts';
import type { Told } from './doctorChecks.ts';

const lossy = 'a failover to it can lose what was acknowledged last. To wait for it, set synchronous_standby_names';

/** Whether what Florin acknowledges is on more than one machine. A single server is no problem, and is called one. */
export const judgeStandbys = ({ names, commit, connected, synchronous, role }: Standbys): Told => {
  const count = `${connected} ${connected === 1 ? 'standby' : 'standbys'}`;
  if (names === '') {
    const detail =
      connected === 0
        ? 'no standby is connected: what is acknowledged is on this server alone'
        : `writes are acknowledged without waiting for any of ${count}: ${lossy}`;
    return { ok: true, detail };
  }
  if (commit === 'local') {
    const detail = `synchronous_commit is local for ${role}, so its writes are acknowledged without a standby: set it to on`;
    return { ok: false, detail };
  }
  const waits = `writes wait for a standby (synchronous_standby_names = ${names})`;
  if (connected > 0 && synchronous === null) {
    return { ok: true, detail: `${waits}; ${role} may not see which of ${count}: grant pg_read_all_stats to ${role}` };
  }
  if (synchronous === null || synchronous.length === 0) {
    return { ok: false, detail: `${waits}, and none is connected: nothing can be written until one is` };
  }
  return { ok: true, detail: `${waits}: ${synchronous.join(', ')}` };
};
