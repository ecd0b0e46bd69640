import { dashboardHeaders, type Hook, type Scene } from './scene.ts';

/** What the outside sees: harm is what must never be, `signs` differ when Florin refuses something. */
export type Seen = { readonly harm: readonly string[]; readonly signs: string };

type Shown = { id: string; status: string; amountReceived: string; address: string };

const paidStates = ['confirming', 'completed', 'reversed'];
const unpaidStates = new Set(['pending', 'expired', 'canceled']);
const harmlessEvents = new Set(['payment.created', 'payment.expired', 'payment.canceled', 'webhook.test']);

/** One line for all answers, so that two looks can be compared. */
const short = (text: string): string => text.replace(/req_\w+/g, '').slice(0, 300);

export const createProbe = (scene: Scene) => {
  const { sandbox, dashboard, client, keys, accounts, unpaid, paid, reversed, treasury, cookies, hooks } = scene;
  const bearer = (key: string): Record<string, string> => ({ authorization: `Bearer ${key}` });
  const read = (path: string, key: string) => sandbox.call('GET', `/v1${path}`, { headers: bearer(key) });
  let heard = hooks.length;
  /** Events that receivers have had. The same bytes again say nothing new. */
  const had = new Set<string>();
  const noted = (hook: Hook): string => `${hook.id} ${hook.body}`;
  const noteHooks = (): void => {
    for (const hook of hooks.slice(heard)) had.add(noted(hook));
    heard = hooks.length;
  };
  for (const hook of hooks) had.add(noted(hook));

  /** Whether a payment that nobody paid, or whose funds are gone, would read as paid. */
  const isWrong = (id: string, status: string): boolean =>
    unpaid.has(id) ? !unpaidStates.has(status) : id === reversed && status !== 'reversed';

  const lookAtUnpaid = async (harm: string[], signs: string[]): Promise<void> => {
    const answers = await Promise.all(
      [...unpaid].map(async ([id, address]) => ({ id, address, ...(await read(`/payments/${id}`, keys.first)) })),
    );
    for (const { id, address, status, text } of answers) {
      signs.push(`${status} ${status === 200 ? (JSON.parse(text) as Shown).status : short(text)}`);
      if (status !== 200) continue;
      const shown = JSON.parse(text) as Shown;
      if (!unpaidStates.has(shown.status) || Number(shown.amountReceived) !== 0)
        harm.push(`${id} reads ${shown.status}`);
      if (shown.address !== address) harm.push(`${id} shows another address`);
    }
  };

  const lookAtLists = async (harm: string[], signs: string[]): Promise<void> => {
    const lists = await Promise.all(paidStates.map(state => read(`/payments?limit=100&status=${state}`, keys.first)));
    for (const { status, text } of lists) {
      signs.push(String(status));
      if (status !== 200) continue;
      for (const shown of (JSON.parse(text) as { data: Shown[] }).data) {
        if (isWrong(shown.id, shown.status)) harm.push(`a list shows ${shown.id} ${shown.status}`);
      }
    }
  };

  const lookAtFile = async (harm: string[], signs: string[]): Promise<void> => {
    const path = `/dashboard/api/payments.csv?environment=sandbox&to=${encodeURIComponent(scene.madeAt)}`;
    const { status, text } = await dashboard.call('GET', path, { headers: { cookie: cookies.owner } });
    const lines = text.split('\r\n').map(line => line.split(','));
    const tampered = lines.filter(([, shown]) => shown === 'tampered').map(([id]) => id);
    signs.push(`${status} ${tampered.join(' ')}`);
    if (status !== 200) return;
    for (const [id = '', shown = ''] of lines) {
      if (shown !== 'tampered' && isWrong(id, shown)) harm.push(`the file shows ${id} ${shown}`);
    }
  };

  const lookAtCheckout = async (harm: string[], signs: string[]): Promise<void> => {
    const [id, address] = [...unpaid][0]!;
    const { status, text } = await sandbox.call('GET', `/checkout/${id}`);
    signs.push(String(status));
    if (status === 200 && !text.toLowerCase().includes(address.toLowerCase()))
      harm.push('a checkout page shows another address');
  };

  const create = async (harm: string[], signs: string[]): Promise<void> => {
    const body = { amount: '1.00', currency: 'USDC', network: 'base' };
    const { status, text } = await sandbox.call('POST', '/v1/payments', { body, headers: bearer(keys.first) });
    signs.push(String(status));
    if (status !== 200) return;
    const { id } = JSON.parse(text) as Shown;
    const { rows } = await client.query(
      'select account_id, environment, wallet_kind, treasury from payments where id = $1',
      [id],
    );
    const row = rows[0] as Record<string, string> | undefined;
    const isRight =
      row?.account_id === accounts[0] &&
      row.environment === 'sandbox' &&
      row.wallet_kind === 'forwarder' &&
      row.treasury === treasury;
    if (!isRight) harm.push(`a new payment went to ${JSON.stringify(row)}`);
  };

  const lookAtRights = async (harm: string[], signs: string[]): Promise<void> => {
    const first = [...unpaid.keys()][0]!;
    const theirs = await read(`/payments/${first}`, keys.second);
    if (theirs.status === 200) harm.push('the second merchant reads a payment of the first one');
    const revoked = await read(`/payments/${first}`, keys.revoked);
    if (revoked.status === 200) harm.push('a revoked key works');
    const session = (cookie: string) => dashboard.call('GET', '/dashboard/api/session', { headers: { cookie } });
    const ended = await session(cookies.ended);
    if (ended.status === 200 && ended.text.includes('"signed-in"')) harm.push('a session that ended works');
    const link = await dashboard.call('POST', '/dashboard/api/recovery/check', {
      body: { token: scene.replacedLink },
      headers: dashboardHeaders(dashboard.origin),
    });
    if (link.status === 200) harm.push('a link for a new password that was replaced works');
    const owner = await session(cookies.owner);
    if (owner.text.includes('"signed-in"') && !owner.text.includes(accounts[0]))
      harm.push('a session is in another account');
    // 401, or 429 after many of these.
    signs.push(`${theirs.status} ${revoked.status === 200} ${owner.status} ${owner.text.includes('"signed-in"')}`);
  };

  const lookAtCompleted = async (harm: string[], signs: string[]): Promise<void> => {
    for (const id of [paid, reversed]) {
      const { status, text } = await read(`/payments/${id}`, keys.first);
      const shown = status === 200 ? (JSON.parse(text) as Shown).status : '';
      signs.push(`${status} ${shown}`);
      if (shown !== '' && isWrong(id, shown)) harm.push(`${id} reads ${shown}`);
    }
  };

  const lookAtHooks = (harm: string[]): void => {
    for (const hook of hooks.slice(heard)) {
      const isMine = hook.paymentId !== null && (unpaid.has(hook.paymentId) || hook.paymentId === paid);
      if (!isMine) continue;
      if (!had.has(noted(hook)) && !harmlessEvents.has(hook.type))
        harm.push(`a receiver got ${hook.type} of ${hook.paymentId}`);
      if (!['/now', '/callback'].includes(hook.path)) harm.push(`${hook.path} got an event of the first merchant`);
    }
    noteHooks();
  };

  return async (): Promise<Seen> => {
    const looks = [lookAtUnpaid, lookAtLists, lookAtFile, lookAtCheckout, create, lookAtRights, lookAtCompleted];
    const seen = await Promise.all(
      looks.map(async look => {
        const [harm, signs]: [string[], string[]] = [[], []];
        await look(harm, signs);
        return { harm, signs };
      }),
    );
    const harm = seen.flatMap(each => each.harm);
    lookAtHooks(harm);
    return { harm, signs: seen.flatMap(each => each.signs).join(' | ') };
  };
};
