import { beforeAll, beforeEach } from 'vitest';
import { type DeliveryScene, type Merchant, startDeliveryScene } from './deliveryScene.ts';

export let scene: DeliveryScene;
export let merchant: Merchant;

/** One scene for all tests of a file, and for each of them a merchant who has nothing yet. */
export const merchantPerTest = (options?: Parameters<typeof startDeliveryScene>[0]): void => {
  beforeAll(async () => {
    scene = await startDeliveryScene(options);
  });
  beforeEach(async () => {
    merchant = await scene.merchant();
  });
};
