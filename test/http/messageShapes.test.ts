import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const run = promisify(execFile);
const shapes = new URL('../../src/http/messageShapes.ts', import.meta.url).href;

/** Whether requests and their answers are laid out as objects, where garbage is collected between the first of them. */
const layOut = async (first: string): Promise<unknown> => {
  const script = `
    import { IncomingMessage, ServerResponse } from 'node:http';
    import { Socket } from 'node:net';
    import { settleMessageShapes } from '${shapes}';
    const make = () => {
      const message = new IncomingMessage(new Socket());
      return [message, new ServerResponse(message)];
    };
    const collect = () => { for (let i = 0; i < 8; i++) gc(); };
    ${first}
    for (let i = 0; i < 6; i++) make();
    await new Promise(resolve => setImmediate(resolve));
    collect();
    for (let i = 0; i < 8; i++) make();
    console.log(JSON.stringify(make().map(each => %HasFastProperties(each))));`;
  const flags = ['--expose-gc', '--allow-natives-syntax', '--input-type=module', '--eval', script];
  return JSON.parse((await run(process.execPath, flags)).stdout);
};

test('requests are no dictionaries, whenever garbage is collected', async () => {
  expect(await layOut('settleMessageShapes();')).toEqual([true, true]);
});

test('which they would be otherwise, or nothing has to be settled any more', async () => {
  expect(await layOut('')).toEqual([false, false]);
});
