import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Makes `<name>.key` and `<name>.crt` in a folder, and gives both.
 * @param extension for example `subjectAltName=DNS:localhost` @param issuer the certificate there that signs it; left out, itself
 * @param days until it ends
 */
export function makeCertificate(
  folder: string,
  name: string,
  subject: string,
  extension: string,
  issuer?: string,
  days = 2,
): string[] {
  const signer = issuer === undefined ? [] : ['-CA', `${issuer}.crt`, '-CAkey', `${issuer}.key`];
  const args = [
    ...`req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days ${days}`.split(' '),
    ...['-keyout', `${name}.key`, '-out', `${name}.crt`, '-subj', `/CN=${subject}`, '-addext', extension],
    ...signer,
  ];
  execFileSync('openssl', args, { cwd: folder, stdio: 'ignore' });
  return ['key', 'crt'].map((kind) => readFileSync(join(folder, `${name}.${kind}`), 'utf8'));
}

/** Makes `<name>.key` and `<name>.crt` for localhost in a folder, whose year is over, and gives both. */
export function makeEndedCertificate(folder: string, name: string): string[] {
  const lines = ['[ca]', 'default_ca=own', '[own]', 'database=index', 'new_certs_dir=.', 'default_md=sha256'];
  lines.push('serial=serial', 'policy=any', 'x509_extensions=names', '[any]', 'commonName=supplied');
  lines.push('[names]', 'subjectAltName=DNS:localhost');
  writeFileSync(join(folder, 'ca.cnf'), `${lines.join('\n')}\n`);
  writeFileSync(join(folder, 'index'), '');
  const run = (line: string) => execFileSync('openssl', line.split(' '), { cwd: folder, stdio: 'ignore' });
  const files = `-in ${name}.csr -keyfile ${name}.key -out ${name}.crt`;
  run(`req -new -newkey rsa:2048 -nodes -keyout ${name}.key -out ${name}.csr -subj /CN=localhost`);
  run(
    `ca -batch -selfsign -config ca.cnf -create_serial -notext ${files} -startdate 20240101000000Z -enddate 20250101000000Z`,
  );
  return ['key', 'crt'].map((kind) => readFileSync(join(folder, `${name}.${kind}`), 'utf8'));
}
