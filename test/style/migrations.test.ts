import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { allFiles } from './sourceTree.ts';

/**
 * A migration never changes once it has landed: databases remember its checksum and refuse another. A new migration adds
 * a line here; no line is ever edited.
 */
const landed: Readonly<Record<string, string>> = {
  '0001_foundations.sql': 'b938678305ad437b42cc872043acd4038ccf0e3d88bcb6747a561195dc7f1df2',
  '0002_chains.sql': 'd503e7ecd0cb4b99f179df0049b91a312038ab0633500b6c9bd6e7d7c9e167a4',
  '0003_superseded_coins.sql': '40106459c27d929db8685e187f0b0ef656f37445a8d1c2bd39373e0e5d0c1d8e',
  '0004_deliveries.sql': 'b62613fcfa92cdceaddd5ef7307d315251df5ebbc17142d23660ad502c27b984',
  '0005_cheaper_deliveries.sql': '0ff2524804fc62f5eb8a7b1f0e9483ce6a492ebdacc881f411a267cdfecb877d',
  '0006_checkout.sql': '536c4e8bd3709abfafe93e89dfe7a38de0b8c643c26a8c5ea48fbcabb0c1d395',
  '0007_support_contact.sql': 'f99caa17c3cdf201a6be57ad00154a3236ba6df1a46e900ee225c4a756f856e4',
  '0008_people.sql': 'ff41badf8b2e24812a17e801f965e654a1a0624f963bb32faf051e985618fe43',
  '0009_settlement.sql': 'a2cbcbafbbbcbc89bd4afe3a599fc0c8d8f06e2b2b06f5fd26242f0b600ad883',
  '0010_wallet_changes.sql': '299118fc2a8b35466b643b81b37862b29ac56712063f99515fcb2a0340a465cb',
  '0011_payments_that_strayed.sql': 'e94f8c73743148d8101b7d3790860e020982adf69cf8526883d545aa77ae67f1',
  '0012_address_epochs.sql': '552550dcd0f3654f7fc5253f3921ec4f3cf0a21133bec2e51b1a1e56dd5ed4cc',
  '0013_smaller_terms.sql': 'daf8bd9f415e8b2d683a67d07cf55b66135d9f72eaabbd70beabba65164a9cf9',
  '0014_looked_at_twice.sql': '254ba3ea970243f80e0107bf1096961c4a651a49794c928b60cea89d99a85a4b',
  '0015_ledger.sql': 'e94ac1baa5bee928afa1f40c0ba2958ae3d15dd1b0a32e7e73e303e6cf2c1b58',
  '0016_treasury_confirmations.sql': '93da114193ab44292a80b12987ea5b61aad2f340643656fe30a16dd138f798d0',
  '0017_one_door.sql': '1fab30ad3d8098030914a1d81ec131e1f7771ae168356500d8ddef5d71653630',
  '0018_cheaper_facts.sql': 'aafb2ebc7e63d0cf0c70e805f75612220dc8a7c5c974470fff493e24be6f25d3',
  '0019_memberships.sql': 'f2d45ae3bc49c6488811c6b8c09b4b082ad7b6d2c17f44bab89167516362692f',
  '0020_key_makers.sql': '47249b71bc1eb5609b48df817c986f646ce4d8cea6f04a7c9febe64168445723',
  '0021_heads_at_creation.sql': '299f5132c56ee99b2b51822b68cd6fe3aa65339bbc383d16c3d5807cb3c2dd96',
  '0022_guesses.sql': '8770b9572bbc5d30ea816439514939b4f266854cd853deda64d39e56d0fd0c03',
  '0023_announcements.sql': 'abdb73616a49a1a446a66bb245f705b68a7018b603286b9ff6270a7b21f9ba5d',
  '0024_two_owners.sql': '02dc4e3b40b4a682bd3b437ee91961ed2b0071aa5ecff82731598f6f2bfb9a40',
  '0025_seals.sql': '661b6509beed783aa38e0f78153c5aa40a493371dcb8f945ec45321113079198',
  '0026_review_after_restore.sql': 'de3ba24554d786f905109fd69ec1772c4648881fba22c2fb39c465c748763153',
  '0027_master_key_rotation.sql': '6e835c018100c64b9c73fae645f76f5d16457be90dec7df5158991cf6ce944fa',
  '0028_sessions_and_confirmations.sql': '54a6f63b3ff171f0eab6cc7fb3d5599ec797eb0337c3c871f551822caf91a723',
  '0029_erasing.sql': 'ce2c318f2a353a060cf32b18491fee05fe2c4f2ae15f545eb5f154b0c73a784f',
  '0030_event_traces.sql': '3a3b37f122e0ed55950f4123f8c84fa2dd2ba4164e00e20d49ba3a19566eb9b5',
  '0031_lost_transfers.sql': 'b1dd88ecb5170464d79b3b2f9b9ef49aad8e595c5c9482816fa4501eb9aacf6b',
  '0032_named_recovery_links.sql': '9244fcdc3b0703d52cee2a41549397ca063e33cc81a9428a43317d2a1971ba3b',
  '0033_sealed_corrections.sql': 'e6b1ae6383cc606944ddaff6e191e03fd824e050209be06cc315f89f4d3bc1c4',
  '0034_chain_branches.sql': '6cce735e4cad618f5ce0bafdce71049c06ffce4ff431d556c71bea92f4e44a0f',
  '0035_minor_mails.sql': 'd9b98180341441d9df22d2254fee19a5e76922409fb4a611ff82d698ccabb973',
  '0036_earlier_sign_in.sql': '76c328df4c523bb3fc28db09fdce47622fc2fd230e6210f4492fbacf6909b486',
  '0037_earlier_password.sql': 'd70c89ea9fb117cf2d22917cbd208c6f1b0002c0ff52d2623dac20c8eb551b6d',
  '0038_releases.sql': '6b98c4cbd53b9455458fcaa84425db3c95a37a2ed439662c56614f088c5df914',
};

const migrations = allFiles.filter(file => file.path.startsWith('src/storage/migrations/'));
const nameOf = (path: string): string => path.slice(path.lastIndexOf('/') + 1);

test('migrations are as they landed', () => {
  const found = migrations.map(file => [nameOf(file.path), createHash('sha256').update(file.text).digest('hex')]);
  expect(Object.fromEntries(found)).toEqual(landed);
});

test('migrations are numbered without gaps', () => {
  const names = migrations.map(file => nameOf(file.path)).sort();
  expect(
    names.filter((name, index) => !new RegExp(`^${String(index + 1).padStart(4, '0')}_[a-z_]+\\.sql$`).test(name)),
  ).toEqual([]);
});
