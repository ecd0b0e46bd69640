import type { IncomingMessage } from 'node:http';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { FlorinError } from '../../core/errors.ts';
import { type Body, readFormBody, readJsonBody } from './body.ts';

const formType = 'application/x-www-form-urlencoded';
const isForm = /^application\/x-www-form-urlencoded(?:\s*;\s*charset="?utf-8"?)?\s*$/i;
const isJson = /^application\/json(?:\s*;\s*charset="?utf-8"?)?\s*$/i;

const bodyKey = Symbol('body');
type RequestWithBody = FastifyRequest & { [bodyKey]?: Body };

export const bodyOf = (request: RequestWithBody): Body | undefined => request[bodyKey];

export const unsupported = (): FlorinError =>
  new FlorinError('unsupported_media_type', 'Send the body as application/json in UTF-8, without compression.');

/** Each route accepts one content type, JSON or a form. */
export const addBodyParsers = (app: FastifyInstance): void => {
  app.removeAllContentTypeParsers();
  const parse =
    (takesForm: boolean, spelling: RegExp, read: typeof readJsonBody) =>
    async (request: RequestWithBody, payload: IncomingMessage): Promise<unknown> => {
      const encoding = request.headers['content-encoding'];
      const config = request.routeOptions.config as { takesForm?: boolean; bodyBytes?: number };
      if (Boolean(config.takesForm) !== takesForm) throw unsupported();
      if (!spelling.test(request.headers['content-type'] ?? '')) throw unsupported();
      if (encoding !== undefined && encoding.toLowerCase() !== 'identity') throw unsupported();
      const body = await read(payload, config.bodyBytes);
      if (body) request[bodyKey] = body;
      return body?.value;
    };
  app.addContentTypeParser('application/json', parse(false, isJson, readJsonBody));
  app.addContentTypeParser(formType, parse(true, isForm, readFormBody));
  app.addContentTypeParser('*', async () => {
    throw unsupported();
  });
};
