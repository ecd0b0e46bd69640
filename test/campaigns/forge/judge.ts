import { setTimeout as pause } from 'node:timers/promises';
import { openStorage } from '../../../src/cli/compose.ts';
import { loadConfig } from '../../../src/cli/config.ts';
import { examineFacts, examineRecords } from '../../../src/cli/doctorChecks.ts';
import { examine } from '../../../src/cli/doctorCommand.ts';
import { silentLog } from '../../../src/core/log.ts';
import { type AsService, tryAsService } from './asService.ts';
import type { Forgery, Undo } from './forgeries.ts';
import { createProbe, type Seen } from './probe.ts';
import type { Scene } from './scene.ts';
import { whileLocked } from './tables.ts';

/** `gone`: the row was not there any more, so nothing was tried. */
export type Outcome = 'refused' | 'found' | 'listed' | 'gone' | 'FAILED';
export type Judged = { readonly outcome: Outcome; readonly why: string; readonly asService: AsService };
export type Judge = {
  judge(forgery: Forgery): Promise<Judged>;
  /** What is left of acts that were undone: nothing, or what comes next is judged wrongly. */
  traces(): Promise<string>;
};

/** Keys are cached for half a second. */
const cachedMs = 600;
/** Chains, deliveries and due payments are looked at each second. */
const workedMs = 1_500;
/** Tables that loops read; all others are read when somebody asks. */
const looped = new Set([
  'payments', 'events', 'deliveries', 'transfers', 'forwards', 'blocks', 'chains', 'webhook_endpoints', 'outbox',
  'rescans', 'address_baselines', 'wallets', 'wallet_effects', 'stopped_callbacks', 'ledger_corrections',
]); // biome-ignore format: one list
const recoverTries = 100;

const doctor = async (room: string): Promise<string> => {
  const findings = await examine({ dataDir: room });
  return findings
    .filter(({ ok }) => !ok)
    .map(({ check, detail }) => `${check}: ${detail}`)
    .join('; ');
};

/** What `florin doctor --deep` finds without the chains, whose comparison waits for their turn. */
const deepDoctor = async (room: string): Promise<string> => {
  const storage = await openStorage(await loadConfig({ flags: { dataDir: room } }), silentLog);
  try {
    const told = [await examineFacts(storage.db), await examineRecords(storage.db)];
    return told
      .filter(({ ok }) => !ok)
      .map(({ detail }) => detail)
      .join('; ');
  } finally {
    await storage.stop();
  }
};

/** Does one act at a time, and judges what came of it. `listed` says why an act is harmless, or null. */
export const createJudge = async (
  scene: Scene,
  room: string,
  { listed, tell }: { listed: (forgery: Forgery) => string | null; tell: (line: string) => void },
): Promise<Judge> => {
  const { client } = scene;
  await pause(workedMs);
  const probe = createProbe(scene);
  await probe();
  let usual = await probe();
  if (usual.harm.length > 0) throw new Error(`the scene is wrong: ${usual.harm.join('; ')}`);
  const traces = async (): Promise<string> => (await doctor(room)) || deepDoctor(room);
  const found = await traces();
  if (found !== '') throw new Error(`the doctor finds something before anything was done: ${found}`);

  /** Waits until what was undone has no effect any more. */
  const recover = async (forgery: Forgery): Promise<void> => {
    for (let tries = 0; tries < recoverTries; tries++) {
      const seen = await probe();
      if (seen.harm.length === 0 && seen.signs === usual.signs) return;
      await pause(cachedMs / 3);
    }
    const left = await probe();
    tell(`${forgery.name} (${forgery.kind}) left traces: ${left.signs}`);
    usual = left;
  };

  const judged = async (forgery: Forgery, seen: Seen, sick: string): Promise<Pick<Judged, 'outcome' | 'why'>> => {
    if (seen.harm.length > 0) return { outcome: 'FAILED', why: seen.harm.join('; ') };
    if (sick !== '') return { outcome: 'found', why: sick };
    if (seen.signs !== usual.signs) return { outcome: 'refused', why: seen.signs };
    const deep = await deepDoctor(room);
    if (deep !== '') return { outcome: 'found', why: `--deep: ${deep}` };
    const reason = listed(forgery);
    return reason === null
      ? { outcome: 'FAILED', why: 'nothing noticed it, and SECURITY.md does not list it' }
      : { outcome: 'listed', why: reason };
  };

  const judge = async (forgery: Forgery): Promise<Judged> => {
    const asService = await tryAsService(client, forgery);
    let undo: Undo | null;
    try {
      undo = await whileLocked(client, forgery.table, () => forgery.act(client));
    } catch (error) {
      return { outcome: 'refused', why: `the database: ${(error as Error).message}`, asService };
    }
    if (undo === null) return { outcome: 'gone', why: 'the row is gone', asService };
    const waited = pause(looped.has(forgery.table) ? workedMs : cachedMs);
    // Meanwhile, because it looks at the tables only.
    const sick = await doctor(room);
    await waited;
    const seen = await probe();
    const { outcome, why } = await judged(forgery, seen, sick);
    await whileLocked(client, forgery.table, undo);
    if (seen.harm.length > 0 || seen.signs !== usual.signs) await recover(forgery);
    return { outcome, why, asService };
  };
  return { judge, traces };
};
