import type { TestFlorin } from '../support/florin.ts';

export type ActorRow = { readonly action: string; readonly kind: string; readonly id: string | null };

/** Who did what in an account, oldest first. */
export const actorRows = (scene: TestFlorin, accountId: string): Promise<ActorRow[]> => {
  const text = `select action, actor_kind as kind, actor_id as id from audit_log where account_id = $1 order by sequence`;
  return scene.admin.db.query<ActorRow>({ name: 'test-actor-rows', text }, [accountId]);
};
