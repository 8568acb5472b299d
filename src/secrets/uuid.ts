/** @param bytes 16 bytes @returns the uuid as text, as PostgreSQL writes it */
export function printUuid(bytes: Buffer): string {
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

/** @param uuid as PostgreSQL writes it @returns its 16 bytes */
export function parseUuid(uuid: string): Buffer {
  return Buffer.from(uuid.replaceAll('-', ''), 'hex');
}
