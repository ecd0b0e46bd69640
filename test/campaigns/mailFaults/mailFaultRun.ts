import { setTimeout as pause } from 'node:timers/promises';
import type { AdminContext } from '../../../src/engine/access/accounts.ts';
import { operatorActor } from '../../../src/engine/audit/audit.ts';
import { perform } from '../../../src/engine/perform.ts';
import type { SmtpMood, SmtpReceiver } from '../../mail/smtpReceiver.ts';

const faults: readonly SmtpMood[] = ['busy', 'refuse', 'drop', 'drop in data', 'drop after data', 'late'];
/** Of the faults. The client waits for 20 s each time. */
const silentShare = 0.02;

/**
 * A mood for each mail: `share` of them are faulty, and the first two faults are a silent server and a late one. `random`
 * is in [0, 1).
 */
export const faultyMoods = (share: number, random: () => number): (() => SmtpMood) => {
  const first: SmtpMood[] = ['silent', 'late'];
  return () => {
    if (random() >= share) return 'accept';
    return first.shift() ?? (random() < silentShare ? 'silent' : faults[Math.floor(random() * faults.length)]!);
  };
};

const markOf = (at: number): string => `notice-${at}-end`;
const marksIn = (sources: readonly string[]): Set<string> =>
  new Set(sources.flatMap(source => /notice-[0-9]+-end/.exec(source)?.[0] ?? []));

/** Makes acts that are announced by mail, each with a mark of its own, spread over the accounts. */
export const makeNotices = async (admin: AdminContext, accountIds: readonly string[], total: number): Promise<void> => {
  const make = async (accountId: string, first: number): Promise<void> => {
    const acting = { scope: { accountId, environment: 'production' }, actor: operatorActor, address: null } as const;
    for (let at = first; at < total; at += accountIds.length) {
      const deed = { action: 'wallet.set', subject: markOf(at), detail: {} } as const;
      await perform(admin, acting, null, async () => ({ value: null, deed }));
    }
  };
  await Promise.all(accountIds.map(make));
};

const count = async ({ db }: AdminContext, where: string): Promise<number> =>
  (
    await db.query<{ total: number }>(
      { name: '', text: `select count(*)::int as total from outbox where kind in ('mail', 'minor_mail') and ${where}` },
      [],
    )
  )[0]!.total;

/** Lets retries come due at once, until none is left. */
export const settleMails = async (
  admin: AdminContext,
  { rounds, intervalMs, tell }: { rounds: number; intervalMs: number; tell: (left: number) => void },
): Promise<void> => {
  for (let round = 0; round < rounds; round += 1) {
    await admin.db.script(`update outbox set next_attempt_at = clock_timestamp()
      where kind in ('mail', 'minor_mail') and parked_at is null and failures > 0
        and next_attempt_at > clock_timestamp() + interval '3 seconds' and claim = failures`);
    const left = await count(admin, 'parked_at is null');
    if (left === 0) return;
    tell(left);
    await pause(intervalMs);
  }
};

/** What is wrong in the end; empty if nothing was lost and nothing said too much. */
export const mailFaults = async (
  admin: AdminContext,
  receiver: SmtpReceiver,
  { total, log, addresses }: { total: number; log: string; addresses: readonly string[] },
): Promise<string[]> => {
  const [kept, refused] = [marksIn(receiver.kept.map(({ source }) => source)), marksIn(receiver.refused)];
  const lost = Array.from({ length: total }, (_, at) => markOf(at)).filter(
    mark => !kept.has(mark) && !refused.has(mark),
  );
  const [left, parked] = [await count(admin, 'parked_at is null'), await count(admin, 'parked_at is not null')];
  return [
    ...(lost.length > 0 ? [`${lost.length} notices were lost, the first is ${lost[0]}`] : []),
    ...(left > 0 ? [`${left} notices were never sent`] : []),
    ...(parked !== refused.size ? [`${refused.size} notices were refused for good, and ${parked} are parked`] : []),
    ...addresses.filter(address => log.includes(address)).map(() => 'the log contains an e-mail address'),
  ];
};
