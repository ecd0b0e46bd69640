/** Loaded at its first use: reading it took a quarter of the time of every command. */
const library = () => import('@simplewebauthn/server');

/** An authenticator's answer as a browser sends it: untrusted until it is verified. */
export type PasskeyResponse = Readonly<Record<string, unknown>>;

/** The origin and id for which this dashboard's passkeys are valid. */
export type RelyingParty = { readonly origin: string; readonly rpId: string };

export const relyingPartyOf = (url: string): RelyingParty => ({ origin: url, rpId: new URL(url).hostname });

export type KnownPasskey = {
  readonly credentialId: Buffer;
  readonly publicKey: Buffer;
  readonly counter: number;
  readonly transports: readonly string[];
};

const timeoutMs = 300_000;

/**
 * COSE numbers of EdDSA, ES256 and RS256: every authenticator has one of them. Without a list, the library tests Node
 * for ML-DSA, which Node warns is experimental; sign-in should not depend on that.
 */
const algorithms = [-8, -7, -257];

type Options = Record<string, unknown>;

const descriptorsOf = (passkeys: readonly Pick<KnownPasskey, 'credentialId' | 'transports'>[]) =>
  passkeys.map(({ credentialId, transports }) => ({
    id: credentialId.toString('base64url'),
    transports: [...transports],
  }));

/** Options for a discoverable passkey (no user name needed), on a device that verifies its user. */
export const passkeyRegistration = async (
  party: RelyingParty,
  challenge: Buffer,
  person: { id: string; email: string; name: string },
  known: readonly Pick<KnownPasskey, 'credentialId' | 'transports'>[],
): Promise<Options> => {
  const options = await (await library()).generateRegistrationOptions({
    rpName: 'Florin',
    rpID: party.rpId,
    userName: person.email,
    userDisplayName: person.name,
    userID: new TextEncoder().encode(person.id),
    challenge: new Uint8Array(challenge),
    timeout: timeoutMs,
    attestationType: 'none',
    supportedAlgorithmIDs: algorithms,
    excludeCredentials: descriptorsOf(known),
    authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
  });
  return options as unknown as Options;
};

/** Options to sign with one of these passkeys or, if none are given, with any on the device. */
export const passkeyRequest = async (
  party: RelyingParty,
  challenge: Buffer,
  known: readonly Pick<KnownPasskey, 'credentialId' | 'transports'>[],
): Promise<Options> => {
  const options = await (await library()).generateAuthenticationOptions({
    rpID: party.rpId,
    challenge: new Uint8Array(challenge),
    timeout: timeoutMs,
    userVerification: 'required',
    allowCredentials: descriptorsOf(known),
  });
  return options as unknown as Options;
};

const memberOf = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined;

const bytesOf = (text: unknown, longest: number): Buffer | null =>
  typeof text === 'string' && text.length <= longest && /^[A-Za-z0-9_-]+$/.test(text)
    ? Buffer.from(text, 'base64url')
    : null;

/** The challenge that the answer claims to have signed, to look up before verification. */
export const challengeIn = (response: PasskeyResponse): Buffer | null => {
  const data = bytesOf(memberOf(response.response, 'clientDataJSON'), 8_192);
  if (data === null) return null;
  try {
    return bytesOf(memberOf(JSON.parse(data.toString('utf8')), 'challenge'), 100);
  } catch {
    return null;
  }
};

export const credentialIn = (response: PasskeyResponse): Buffer | null => bytesOf(response.id, 1_400);

/** The person the answer claims to be from; null if it names none. */
export const personIn = (response: PasskeyResponse): string | null =>
  bytesOf(memberOf(response.response, 'userHandle'), 200)?.toString('utf8') ?? null;

/** The library throws on any fault, and its messages do not help the sender. */
const orNull = async <T>(verify: () => Promise<T | null>): Promise<T | null> => {
  try {
    return await verify();
  } catch {
    return null;
  }
};

export type NewPasskey = KnownPasskey & { readonly backedUp: boolean };

export const verifyNewPasskey = (
  party: RelyingParty,
  challenge: Buffer,
  response: PasskeyResponse,
): Promise<NewPasskey | null> =>
  orNull(async () => {
    const { verified, registrationInfo } = await (await library()).verifyRegistrationResponse({
      response: response as never,
      expectedChallenge: challenge.toString('base64url'),
      expectedOrigin: party.origin,
      expectedRPID: party.rpId,
      requireUserVerification: true,
      supportedAlgorithmIDs: algorithms,
    });
    if (!verified) return null;
    const { credential, credentialBackedUp } = registrationInfo;
    const transports = (credential.transports ?? []).filter(each => /^[a-z-]{1,20}$/.test(each)).slice(0, 10);
    return {
      credentialId: Buffer.from(credential.id, 'base64url'),
      publicKey: Buffer.from(credential.publicKey),
      counter: credential.counter,
      transports,
      backedUp: credentialBackedUp,
    };
  });

export type PasskeyUse = { readonly counter: number; readonly backedUp: boolean };

/** Also refuses a counter that does not go up, because the key may have been copied. */
export const verifyPasskeyUse = (
  party: RelyingParty,
  challenge: Buffer,
  response: PasskeyResponse,
  passkey: KnownPasskey,
): Promise<PasskeyUse | null> =>
  orNull(async () => {
    const { verified, authenticationInfo } = await (await library()).verifyAuthenticationResponse({
      response: response as never,
      expectedChallenge: challenge.toString('base64url'),
      expectedOrigin: party.origin,
      expectedRPID: party.rpId,
      requireUserVerification: true,
      credential: {
        id: passkey.credentialId.toString('base64url'),
        publicKey: new Uint8Array(passkey.publicKey),
        counter: passkey.counter,
      },
    });
    if (!verified) return null;
    return { counter: authenticationInfo.newCounter, backedUp: authenticationInfo.credentialBackedUp };
  });
