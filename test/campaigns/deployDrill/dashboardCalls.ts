import type { AnswerOf, BodyOf, DashboardCallName } from '../../../src/core/api/dashboardApi.ts';
import { totpCode, totpStep } from '../../../src/vault/totp.ts';
import { bytesOf } from '../../support/secondFactor.ts';
import { send } from '../../support/send.ts';

const password = 'a quiet river at noon';

export type Visitor = {
  call<Name extends DashboardCallName>(
    name: Name,
    body?: BodyOf<Name> | null,
    params?: Record<string, string>,
  ): Promise<AnswerOf<Name>>;
};

/** What a browser sends when somebody uses the pages, always in production. */
const openDashboard = (origin: string): Visitor => {
  let cookie = '';
  return {
    async call(name, body = null, params = {}) {
      const [method, template] = name.split(' ') as [string, string];
      const path = template.replaceAll(/:([a-z]+)/gi, (_, key: string) => params[key]!);
      const headers: Record<string, string> = { origin, 'sec-fetch-site': 'same-origin', ...(cookie && { cookie }) };
      const content = body === null ? {} : { body };
      const answer = await send(origin, method, `/dashboard/api${path}?environment=production`, {
        headers,
        ...content,
      });
      if (answer.status !== 200) throw new Error(`${name} answered ${answer.status}: ${answer.text}`);
      cookie = answer.headers['set-cookie']?.[0]?.split(';', 1)[0] ?? cookie;
      return answer.json;
    },
  };
};

/** Opens a setup link, becomes the owner, and adds an authenticator app. The session then needs no new proof for minutes. */
export const becomeOwner = async (link: string): Promise<Visitor> => {
  const { origin, hash, pathname } = new URL(link);
  const token = (hash || pathname).split(/[#/=]/).at(-1)!;
  const visitor = openDashboard(origin);
  await visitor.call('POST /setup', { token, name: 'Ada', email: 'ada@example.com', password });
  await visitor.call('POST /prove', { password });
  const secret = bytesOf((await visitor.call('POST /me/totp/begin')).secret);
  const step = totpStep(Date.now());
  await visitor.call('POST /me/totp', { code: totpCode(secret, step) });
  await visitor.call('POST /prove', { password, code: totpCode(secret, step + 1n) });
  return visitor;
};
