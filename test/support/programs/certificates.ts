import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Makes `<name>.key` and `<name>.crt` in a folder, good for two days, and gives both.
 * @param extension for example `subjectAltName=DNS:localhost` @param issuer the certificate there that signs it; left out, itself
 */
export function makeCertificate(
  folder: string,
  name: string,
  subject: string,
  extension: string,
  issuer?: string,
): string[] {
  const signer = issuer === undefined ? [] : ['-CA', `${issuer}.crt`, '-CAkey', `${issuer}.key`];
  const args = [
    ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2'],
    ...['-keyout', `${name}.key`, '-out', `${name}.crt`, '-subj', `/CN=${subject}`, '-addext', extension],
    ...signer,
  ];
  execFileSync('openssl', args, { cwd: folder, stdio: 'ignore' });
  return ['key', 'crt'].map((kind) => readFileSync(join(folder, `${name}.${kind}`), 'utf8'));
}
