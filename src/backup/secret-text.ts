/**
 * Text without what looks like a secret, whoever wrote it: what a process knows to be one it takes out by itself, and
 * this takes out what others let slip. A word too many that is taken out does no harm in a message for a person.
 */
const concealed = '[redacted]';

const telling: readonly (readonly [RegExp, string])[] = [
  // Of a URL.
  [/(\/\/)[^/\s@"']{1,512}@/g, `$1${concealed}@`],
  [/(X-Amz-(?:Signature|Security-Token|Credential)=)[^&\s"'<]+/gi, `$1${concealed}`],
  [/\b(Bearer|Basic)\s+[A-Za-z0-9._~+/=-]{8,}/gi, `$1 ${concealed}`],
  // A JSON Web Token.
  [/\beyJ[\w-]{8,}\.[\w-]+\.[\w-]*/g, concealed],
  [
    /\b((?:\w*[-_.])?(?:password|passwd|secret|secret[-_.]?(?:access[-_.]?)?key|(?:\w*[-_.])?token)["']?\s*[=:]\s*["']?)[^\s"',;<&]+/gi,
    `$1${concealed}`,
  ],
  [/\b(?:AKIA|ASIA)[A-Z0-9]{16}\b/g, concealed],
  // 32 bytes in base64, as the keys of backups are.
  [/(?<![A-Za-z0-9+/])[A-Za-z0-9+/]{43}=(?![A-Za-z0-9+/=])/g, concealed],
  [/-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/g, concealed],
];

export function withoutSecrets(text: string): string {
  return telling.reduce((clean, [pattern, replacement]) => clean.replace(pattern, replacement), text);
}
