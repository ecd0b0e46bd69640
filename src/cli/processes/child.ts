import { forgedOnceAMinute } from '../../core/forgedOnceAMinute.ts';
import type { Log } from '../../core/log.ts';
import { createReleaseGate } from '../../engine/releaseGate.ts';
import { createTurnBuckets } from '../../limits/turnBuckets.ts';
import type { DevChain } from '../../local/devchain/startDevChain.ts';
import { createMetrics } from '../../metrics/metrics.ts';
import { openDatabase } from '../../storage/database.ts';
import type { AuditLook } from '../auditHeadsFile.ts';
import { monotonicMs, openAdmin } from '../compose.ts';
import { ConfigError } from '../config.ts';
import { createLog } from '../log.ts';
import { openKeys, startKeyWatch } from '../masterKeys.ts';
import { openOwnMetrics, poolsOf } from '../ownMetrics.ts';
import { rememberPeople } from '../personRevisionsFile.ts';
import { openDesk, serve } from '../serve.ts';
import { createStack, type Stack } from '../stack.ts';
import type { Machine } from '../startMachine.ts';
import { meteredChains } from '../watchedChains.ts';
import { openChannel } from './channel.ts';
import { handedDoors } from './handedDoors.ts';
import { readInstalled, refuseOther } from './installed.ts';
import type { Begin, Failure } from './messages.ts';

const channel = openChannel();
/** What the supervisor found in the audit logs since it launched this process. */
let heardLook: AuditLook | null = null;
// From the first message on: until all is started there is nothing that would have to end in order, but a look counts.
channel.on({
  stop: () => process.exit(0),
  audit({ look }) {
    heardLook = { ...look, isRestored: look.isRestored || (heardLook?.isRestored ?? false) };
  },
});

/** What the supervisor has started. The data directory is its own: this process reads there, and writes nothing. */
const joinMachine = async (begin: Begin, { log, stack }: { log: Log; stack: Stack }): Promise<Machine> => {
  const { name, config, tls, service, holder, chainUrl } = begin;
  const db = openDatabase(service, { log });
  const gate = createReleaseGate(begin.installed.migrations);
  const storage = { db, service, gate, stop: () => db.close() };
  stack.push('database', storage.stop);
  const ring = await openKeys(config, db, log);
  const keyWatch = startKeyWatch(config, { db, ring, holder: `${holder}.${name}`, gate, log, monotonicMs });
  stack.push('key watch', () => keyWatch.stop());
  const admin = await openAdmin(config, storage, log, ring);
  const follow = ({ isRestored }: AuditLook): void => {
    if (isRestored) admin.floors.forget();
    void rememberPeople(config, admin.floors);
  };
  if (heardLook) follow(heardLook);
  channel.on({
    audit({ look }) {
      heardLook = look;
      follow(look);
    },
  });
  const chain: DevChain | null = chainUrl === null ? null : { rpcUrl: chainUrl, pid: () => null, stop: async () => {} };
  const epochs: Machine['epochs'] = { take: () => channel.ask('epoch'), look: () => channel.ask('lookForRestore') };
  return { tls, service, admin, holder, auditLoss: () => heardLook?.loss ?? begin.auditLoss, epochs, chain };
};

const failureOf = (error: unknown): Failure => ({
  message: error instanceof Error ? error.message : String(error),
  problems: error instanceof ConfigError ? error.problems : null,
});

const begin = await channel.begun;
const { name, config, limitBudgetMs } = begin;
const { log: everyLine, access: everyRequest, flush } = createLog({ ...config, logFile: null }, { process: name });
const metrics = config.metrics && createMetrics();
const given = { log: forgedOnceAMinute(everyLine, () => performance.now()), access: everyRequest };
const { log, access } = metrics?.watch(given) ?? given;
const stack = createStack(log);

// Node would print the source and every field of the error, past the log.
process.on('uncaughtException', error => {
  log.error({ err: error }, 'an unexpected error ends this process');
  void flush().finally(() => process.exit(1));
});
void channel.post({ kind: 'begun' });

const end = async (): Promise<void> => {
  await stack.unwind();
  await flush();
};

const start = async (): Promise<void> => {
  refuseOther(await readInstalled(), begin.installed);
  const machine = await joinMachine(begin, { log, stack });
  const desk = await openDesk(config, machine, { log, stack, metrics, urls: { ...begin.urls } });
  const { context } = desk;
  if (metrics) {
    const families = openOwnMetrics(metrics, {
      pools: poolsOf(context),
      chains: meteredChains(context.networks.all()),
      stack,
    });
    channel.on({ measure: ({ id }) => void channel.post({ kind: 'measured', id, families: families() }) });
  }
  const buckets = createTurnBuckets(questions => void channel.post({ kind: 'questions', questions }));
  channel.on({ decisions: ({ decisions }) => buckets.settle(decisions) });
  const doors = config.roles.includes('api') ? handedDoors(channel) : undefined;
  await serve(config, machine, desk, { access, limitBudgetMs, doors, buckets, log, stack });
};

try {
  await start();
  channel.on({ stop: () => void end().finally(() => process.exit(0)) });
  await channel.post({ kind: 'ready' });
} catch (error) {
  await end();
  await channel.post({ kind: 'failed', failure: failureOf(error) });
  process.exit(1);
}
