/** True for a system call that failed with one of these codes (`ENOENT`, `EEXIST`, …). */
export function hasCode(error: unknown, ...codes: string[]): boolean {
  return error instanceof Error && 'code' in error && codes.includes(String(error.code));
}
