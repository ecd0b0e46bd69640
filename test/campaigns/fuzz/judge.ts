import { errorStatus } from '../../../src/core/errors.ts';
import type { Attack, Target } from './attack.ts';
import type { Answer, Outcome } from './exchange.ts';

const knownFields = ['code', 'message', 'param', 'requestId'];

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

/** What is wrong with an error's body, or null. */
const faultOfBody = (attack: Attack, answer: Answer, requestId: string): string | null => {
  const body = parse(answer.body) as { error?: Record<string, unknown> } | undefined;
  const error = body?.error;
  if (typeof error !== 'object' || error === null) return 'the body is no error object';
  if (Object.keys(body!).length !== 1) return 'the body holds more than the error';
  const stranger = Object.keys(error).find(name => !knownFields.includes(name));
  if (stranger !== undefined) return `the error has a field ${stranger}`;
  const { code, message, param } = error;
  if (typeof code !== 'string' || !Object.hasOwn(errorStatus, code)) return `the code ${code} is not in the table`;
  if (errorStatus[code as keyof typeof errorStatus] !== answer.status)
    return `${code} does not go with ${answer.status}`;
  if (typeof message !== 'string' || message.length === 0 || message.length > 1_000)
    return 'the message is no sentence';
  if (param !== undefined && (typeof param !== 'string' || param === '')) return 'param is no name';
  if (error.requestId !== requestId) return 'the request id differs from X-Request-Id';
  if (attack.param !== undefined && !(typeof param === 'string' && param.startsWith(attack.param))) {
    return `param is ${param}, not ${attack.param}`;
  }
  return null;
};

const faultOfAnswer = (attack: Attack, answer: Answer, target: Target): string | null => {
  const { status, headers } = answer;
  if (status < 400 || status > 499) return `status ${status}`;
  if (attack.statuses && !attack.statuses.includes(status))
    return `status ${status}, not ${attack.statuses.join(' or ')}`;
  const requestId = headers.get('x-request-id');
  if (!requestId) return 'no X-Request-Id';
  if (!headers.get('content-type')?.startsWith('application/json')) return 'the body is not said to be JSON';
  const secrets = [target.key, target.productionKey, target.readOnlyKey].map(key => key.slice(12, 36));
  if (secrets.some(secret => answer.body.includes(secret))) return 'the answer repeats a key';
  return attack.isHead ? null : faultOfBody(attack, answer, requestId);
};

/** Why the outcome is not what a wrong request deserves, or null. */
export const faultOf = (attack: Attack, outcome: Outcome, target: Target): string | null => {
  switch (outcome.kind) {
    case 'hang':
      return 'no end in time';
    case 'noise':
      return `bytes that are no answer: ${JSON.stringify(outcome.bytes.toString('latin1', 0, 200))}`;
    case 'cut':
      return attack.mayCut ? null : 'the connection was cut';
    case 'answer':
      if (outcome.surplus > 0) return `${outcome.surplus} bytes follow the answer`;
      return faultOfAnswer(attack, outcome.answer, target);
  }
};

export const codeOf = (outcome: Outcome): string => {
  if (outcome.kind !== 'answer') return outcome.kind;
  const code = (parse(outcome.answer.body) as { error?: { code?: unknown } } | undefined)?.error?.code;
  return typeof code === 'string' ? code : 'no code';
};
