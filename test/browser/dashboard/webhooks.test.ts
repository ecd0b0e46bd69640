// @module-tag browser
import { beforeAll, expect, test } from 'vitest';
import { ordinary } from '../../api/paymentCalls.ts';
import { answering, eventOf, type Receiver, startReceiver, verify } from '../../deliveries/receiver.ts';
import { eventually } from '../../support/until.ts';
import { expectNoFaults, prove, useDashboardPages } from './dashboardPages.ts';

const pages = useDashboardPages({ env: { FLORIN_ROLES: 'api,watch,deliver' } });
let receiver: Receiver;
beforeAll(async () => {
  receiver = await startReceiver(answering(200, {}, '{"ok":"stored"}'));
});

const createPayment = async (): Promise<string> => {
  const { scene, keys } = pages.dashboard;
  const answer = await scene.client.call('POST', '/v1/payments', { key: keys.sandbox, body: ordinary });
  expect(answer.status, answer.text).toBe(200);
  return answer.json.id;
};

test('an endpoint is added with a ping, its deliveries are shown and resent, its secret is revealed and rotated', async () => {
  const developer = await pages.dashboard.as('developer');
  await developer.prove();
  const watched = await pages.open('/test/webhooks', developer);
  const { page } = watched;
  await page.getByRole('button', { name: 'Add an endpoint' }).first().click();
  await page.getByRole('textbox', { name: 'Endpoint URL' }).fill(`${receiver.url}/hooks`);
  await page.getByLabel('Selected events').check();
  await page.getByLabel('payment.created').check();
  await page.getByRole('button', { name: 'Add and send a test event' }).click();
  await page.getByText('The test event was delivered.').waitFor();
  const secret = (await page.locator('.secret-value code').textContent())!;
  expect(eventOf(receiver.received[0]!).type).toBe('webhook.test');
  verify(secret, receiver.received[0]!);

  await page.getByRole('link', { name: 'Open the endpoint' }).click();
  await page.getByText('No deliveries yet').waitFor();
  const paymentId = await createPayment();
  await eventually(async () => expect(receiver.received).toHaveLength(2));
  await page.reload();
  await page.getByRole('link', { name: paymentId }).waitFor();
  await page.getByLabel('Status').selectOption('parked');
  await page.getByText('No deliveries with this status').waitFor();
  await page.getByLabel('Status').selectOption('');
  await page.getByRole('link', { name: 'payment.created' }).click();
  await page.getByText('Attempt 1', { exact: true }).waitFor();
  expect(await page.getByRole('region', { name: 'Request body' }).textContent()).toContain(`"id": "${paymentId}"`);
  expect(await page.getByRole('region', { name: 'Response to attempt 1' }).textContent()).toContain('"ok": "stored"');
  expect(await page.getByRole('region', { name: 'Headers of attempt 1' }).textContent()).toContain(
    'webhook-signature: v1,',
  );
  await page.getByRole('button', { name: 'Raw' }).last().click();
  expect(await page.getByRole('region', { name: 'Request body' }).textContent()).toBe(
    receiver.received[1]!.body.toString(),
  );

  await page.getByRole('button', { name: 'Resend' }).click();
  await page.getByText('Attempt 2', { exact: true }).waitFor();
  expect(receiver.received[2]!.headers['webhook-id']).toBe(receiver.received[1]!.headers['webhook-id']);
  expect(receiver.received[2]!.body.equals(receiver.received[1]!.body)).toBe(true);

  await developer.unprove();
  await page.getByRole('link', { name: /^Endpoint we_/ }).click();
  await page.getByRole('button', { name: 'Reveal secret' }).click();
  await prove(page);
  await eventually(async () => expect(await page.locator('.secret-value code').textContent()).toBe(secret));
  await page.getByRole('button', { name: 'Rotate' }).click();
  await page.getByRole('button', { name: 'Create new secret' }).click();
  await page.getByText('This is the new secret.').waitFor();
  const renewed = (await page.locator('.secret-value code').textContent())!;
  expect(renewed).not.toBe(secret);

  await page.getByLabel('Event type').selectOption('payment.late');
  await page.getByRole('button', { name: 'Send test event' }).click();
  await page.getByText('payment.late was delivered.').waitFor();
  for (const each of [secret, renewed]) verify(each, receiver.received[3]!);
  await page.getByRole('button', { name: 'Replay events' }).click();
  await page.getByText('1 event is being sent.').waitFor();
  await eventually(async () => expect(receiver.received).toHaveLength(5));

  const audit = await pages.open('/test/audit', await pages.dashboard.as('owner'));
  await audit.page.getByText(`revealed the signing secret of ${receiver.url}/hooks`).waitFor();
  await audit.close();
  expectNoFaults(watched);
  await watched.close();
});

test('a receiver that is gone is seen to be, and the endpoint can be enabled, changed and deleted', async () => {
  const developer = await pages.dashboard.newPerson('developer');
  await developer.prove();
  receiver.answer = answering(410, {}, 'gone');
  const { endpoint, ping } = await developer.do('POST /webhooks', {
    body: { url: `${receiver.url}/gone`, events: ['*'] },
  });
  expect(ping).toMatchObject({ delivered: false, statusCode: 410 });
  await createPayment();
  await eventually(async () =>
    expect(await developer.do('GET /webhooks/:id', { params: { id: endpoint.id } })).toMatchObject({
      status: 'disabled',
    }),
  );
  const watched = await pages.open(`/test/webhooks/${endpoint.id}`, developer);
  const { page } = watched;
  await page.getByText('This endpoint is disabled.').waitFor();
  expect(await page.locator('.notice').first().textContent()).toContain('answered 410 (gone). It receives no events.');
  await page.getByRole('button', { name: 'Enable' }).click();
  await page.getByText('This endpoint is disabled.').waitFor({ state: 'hidden' });
  await page.getByRole('button', { name: 'Change' }).click();
  await page.getByRole('textbox', { name: 'Endpoint URL' }).fill('http://10.0.0.1/');
  await page.getByRole('button', { name: 'Save' }).click();
  await eventually(async () =>
    expect(await page.getByRole('textbox', { name: 'Endpoint URL' }).getAttribute('aria-invalid')).toBe('true'),
  );
  await page.getByRole('button', { name: 'Cancel' }).click();
  await page.getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('button', { name: 'Delete endpoint' }).click();
  await page.getByRole('heading', { name: 'Webhooks' }).waitFor();
  expect(await page.getByRole('link', { name: `${receiver.url}/gone` }).count()).toBe(0);
  await watched.close();
});
