/** The rules for passwords. Length matters most; the list below excludes what attackers try first. */

export const shortestPassword = 12;
export const longestPassword = 256;

/** The most common passwords of at least 12 characters. */
export const commonPasswords: ReadonlySet<string> = new Set([
  'passwordpassword', 'password1234', 'password12345', 'password123456', 'passw0rd1234', 'passwort1234', '123456789012',
  '1234567890123', '12345678901234', '123456789012345', '1234567890123456', '111111111111', '000000000000', 'qwertyuiop12',
  'qwertyuiop123', 'qwertyuiopas', 'qwertyuiopasdf', 'qwertyuiop[]', 'qwerty123456', 'qwerty1234567', 'qwertyqwerty',
  '1q2w3e4r5t6y', '1q2w3e4r5t6y7u', '1qaz2wsx3edc', '1qaz2wsx3edc4rfv', 'zaq12wsxcde3', 'asdfghjkl123', 'asdfasdfasdf',
  'abcdefghijkl', 'abcdefghijklm', 'abcd12345678', 'abc123abc123', 'iloveyou1234', 'iloveyouforever', 'letmeinletmein',
  'letmein12345', 'welcome12345', 'welcome123456', 'administrator', 'administrator1', 'admin1234567', 'adminadminadmin',
  'changeme1234', 'changemenow1', 'correcthorsebatterystaple', 'trustno1trustno1', 'monkeymonkey', 'dragondragon',
  'football1234', 'baseball1234', 'superman1234', 'princess1234', 'sunshine1234', 'michael12345', 'bitcoinbitcoin',
  'bitcoin12345', 'ethereum1234', 'satoshinakamoto', 'florinflorin', 'florin123456', 'lorem ipsum dolor', 'thisisapassword',
  'mypassword12', 'mypassword123', 'secretsecret', 'secret123456', 'hunter2hunter2', 'testtesttest', 'test12345678',
]); // biome-ignore format: one list

/** Why this password is refused for this person, or null. */
export const refusePassword = (password: string, person: { email: string; name: string }): string | null => {
  const length = [...password].length;
  if (length < shortestPassword) return `The password must have at least ${shortestPassword} characters.`;
  if (length > longestPassword) return `The password must have at most ${longestPassword} characters.`;
  const plain = password.toLowerCase().trim();
  if (plain === person.email.toLowerCase() || plain === person.name.toLowerCase().trim())
    return 'The password must not be your e-mail address or your name.';
  if (commonPasswords.has(plain) || new Set(plain).size < 4)
    return 'This password is easy to guess. Choose another one.';
  return null;
};
