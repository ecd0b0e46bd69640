import { renderAnswers } from './answersFile.ts';
import { appAccount } from './chapters/appAccount.ts';
import { appMemberships } from './chapters/appMemberships.ts';
import { appMoney } from './chapters/appMoney.ts';
import { appRefusals } from './chapters/appRefusals.ts';
import { appSetup } from './chapters/appSetup.ts';
import { deliveries } from './chapters/deliveries.ts';
import { pages } from './chapters/pages.ts';
import { paymentLists } from './chapters/paymentLists.ts';
import { paymentLives } from './chapters/paymentLives.ts';
import { paymentRequests } from './chapters/paymentRequests.ts';
import { production } from './chapters/production.ts';
import { refusals } from './chapters/refusals.ts';
import { restoreReview } from './chapters/restoreReview.ts';
import { webhooks } from './chapters/webhooks.ts';
import { startCorpus } from './corpusScene.ts';

/** Sends every request of the corpus and returns the text of answers.txt. */
export const recordCorpus = async (): Promise<string> => {
  const corpus = await startCorpus();
  await paymentRequests(corpus);
  const lives = await paymentLives(corpus);
  await paymentLists(corpus, lives);
  await appMoney(corpus, lives);
  await refusals(corpus);
  await webhooks(corpus);
  await pages(corpus, lives);
  await production(corpus);
  await appSetup(corpus);
  await appAccount(corpus);
  await appMemberships(corpus);
  await appRefusals(corpus);
  await restoreReview(corpus);
  // Endpoints of the chapters above have names that must not be resolved, so only this Florin delivers.
  await deliveries(await startCorpus({ FLORIN_ROLES: 'api,watch,deliver' }, corpus.recorder));
  return renderAnswers(corpus.recorder.records);
};
