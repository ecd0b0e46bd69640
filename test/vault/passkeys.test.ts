import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { passkeyRegistration, relyingPartyOf, verifyNewPasskey } from '../../src/vault/passkeys.ts';

test('passkeys are asked for and verified with nothing that Node calls an experiment', async () => {
  const warnings: string[] = [];
  const note = (warning: Error) => warnings.push(warning.message);
  process.on('warning', note);
  const party = relyingPartyOf('https://florin.example');
  const person = { id: 'usr_1', email: 'ann@example.com', name: 'Ann' };
  const challenge = Buffer.alloc(32, 1);
  const options = await passkeyRegistration(party, challenge, person, []);
  expect(options.pubKeyCredParams).toEqual([-8, -7, -257].map(alg => ({ alg, type: 'public-key' })));
  expect(await verifyNewPasskey(party, challenge, {})).toBeNull();
  await turn();
  process.off('warning', note);
  expect(warnings).toEqual([]);
});
