import { Agent, request } from 'undici';

export type BareStart = {
  readonly url: string;
  readonly body: string;
  readonly count: number;
  readonly inFlight: number;
};
export type BareDone = { readonly seconds: number; readonly cpuSeconds: number };

/** The fastest way to send: POSTs one after another on `inFlight` connections, neither signed nor recorded. */
process.once('message', async ({ url, body, count, inFlight }: BareStart) => {
  const dispatcher = new Agent({ pipelining: 1 });
  const headers = { 'content-type': 'application/json', 'webhook-id': 'evt_bare' };
  let left = count;
  const cpu = process.cpuUsage();
  const sinceMs = performance.now();
  const post = async (): Promise<void> => {
    while (left-- > 0) {
      const answer = await request(url, { dispatcher, method: 'POST', headers, body });
      await answer.body.dump();
    }
  };
  await Promise.all(Array.from({ length: inFlight }, post));
  const seconds = (performance.now() - sinceMs) / 1000;
  const { user, system } = process.cpuUsage(cpu);
  await dispatcher.close();
  const done: BareDone = { seconds, cpuSeconds: (user + system) / 1e6 };
  process.send?.(done);
});
process.once('disconnect', () => process.exit(0));
