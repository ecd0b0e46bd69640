/** What the secret of a person's authenticator is encrypted for. */
export const totpContext = ({
  firstAccountId,
  id,
}: {
  readonly firstAccountId: string;
  readonly id: string;
}): string[] => ['totp', firstAccountId, id];
