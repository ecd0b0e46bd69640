import { type ReactElement, useState } from 'react';
import { RadioChoices, type RadioOption } from './kit/field.tsx';
import type { Values } from './kit/form.tsx';
import { NewPassword, samePassword } from './newPassword.tsx';
import { canUsePasskeys, makePasskey } from './passkeys.ts';

type Json = Record<string, unknown>;
type Way = 'password' | 'passkey' | 'both';

const ways: readonly RadioOption<Way>[] = [
  { value: 'password', label: 'Password' },
  { value: 'passkey', label: 'Passkey', hint: 'Your device asks for your fingerprint, face or PIN.' },
  { value: 'both', label: 'Password and passkey', hint: 'Either one signs you in.' },
];

/** The fields in which a new person chooses how to sign in. */
export const NewSignIn = (): ReactElement => {
  const [way, setWay] = useState<Way>('password');
  return (
    <>
      {canUsePasskeys() && (
        <RadioChoices legend="How do you want to sign in?" name="way" options={ways} chosen={way} onChoose={setWay} />
      )}
      {way !== 'passkey' && <NewPassword />}
    </>
  );
};

/** The chosen password and passkey. The device is asked last, after the other values were checked. */
export const newProofs = async (
  values: Values,
  offer: () => Promise<Json>,
): Promise<{ password?: string; passkey?: Json }> => {
  const way = values.text('way') || 'password';
  const password = way === 'passkey' ? {} : { password: samePassword(values) };
  return way === 'password' ? password : { ...password, passkey: await makePasskey(await offer()) };
};
