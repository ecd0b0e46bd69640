import { Agent, request } from 'node:https';
import type { Scene } from './scene.ts';

const agents = new WeakMap<Scene, Agent>();

const agentOf = (scene: Scene): Agent => {
  const known = agents.get(scene) ?? new Agent({ keepAlive: true, maxSockets: 1, ca: scene.ca });
  agents.set(scene, known);
  return known;
};

/** Sends one request on a kept connection, for work that is not measured under load. */
export const call = (
  scene: Scene,
  method: string,
  path: string,
  body?: object,
  key: string = scene.key,
): Promise<Record<string, unknown>> =>
  new Promise((resolve, reject) => {
    const text = body === undefined ? undefined : JSON.stringify(body);
    const outgoing = request(
      {
        host: 'localhost',
        port: scene.sandboxPort,
        method,
        path,
        agent: agentOf(scene),
        headers: {
          authorization: `Bearer ${key}`,
          ...(text === undefined ? {} : { 'content-type': 'application/json' }),
        },
      },
      incoming => {
        const chunks: Buffer[] = [];
        incoming.on('data', chunk => chunks.push(chunk));
        incoming.once('end', () => {
          const answer = Buffer.concat(chunks).toString('utf8');
          if (incoming.statusCode !== 200) reject(new Error(`${method} ${path}: ${incoming.statusCode} ${answer}`));
          else resolve(JSON.parse(answer));
        });
      },
    );
    outgoing.once('error', reject);
    outgoing.end(text);
  });

export const closeClient = (scene: Scene): void => agents.get(scene)?.destroy();
