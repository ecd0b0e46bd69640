import type { FrontDoor } from './frontDoor.ts';

export type Load = {
  /** The payments that were made. */
  readonly made: ReadonlySet<string>;
  readonly failed: readonly string[];
  /** How many requests each process answered since the last look. */
  answeredBy(): Record<string, number>;
  end(): Promise<void>;
};

/** Merchants that create payments, read what they made, cancel some of them, and list. */
export const startLoad = (
  frontDoor: FrontDoor,
  key: string,
  options: { callers: number; callbackUrl: string },
): Load => {
  const made = new Set<string>();
  const failed: string[] = [];
  let by: Record<string, number> = {};
  let isOver = false;

  const call = async (method: string, path: string, body?: object): Promise<Record<string, unknown> | null> => {
    try {
      const answer = await frontDoor.call(method, path, { key, ...(body && { body }) });
      by[answer.by] = (by[answer.by] ?? 0) + 1;
      if (answer.status === 200) return answer.body;
      failed.push(`${method} ${path} at ${answer.by}: ${answer.status} ${JSON.stringify(answer.body)}`);
    } catch (error) {
      failed.push(`${method} ${path}: ${(error as Error).message}`);
    }
    return null;
  };
  const visit = async (number: number): Promise<void> => {
    const wanted = { amount: '25.00', currency: 'USDC', network: 'base', callbackUrl: options.callbackUrl };
    const payment = await call('POST', '/v1/payments', wanted);
    if (payment === null) return;
    const { id } = payment as { id: string };
    made.add(id);
    const read = await call('GET', `/v1/payments/${id}`);
    if (read && read.id !== id) failed.push(`payment ${id} is another one`);
    if (number % 3 === 0) await call('POST', `/v1/payments/${id}/cancel`);
    if (number % 5 === 0) await call('GET', '/v1/payments?limit=20');
  };
  const work = async (): Promise<void> => {
    for (let number = 0; !isOver; number++) await visit(number);
  };
  const callers = Array.from({ length: options.callers }, work);
  return {
    made,
    failed,
    answeredBy() {
      const seen = by;
      by = {};
      return seen;
    },
    async end() {
      isOver = true;
      await Promise.all(callers);
    },
  };
};
