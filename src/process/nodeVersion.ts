/** Node's first HTTP parser without request smuggling by line ends (CVE-2025-23167) or by a space (CVE-2024-27982). */
const SAFE_PARSER = '9.2.1';

/** The reason to refuse a Node, by its HTTP parser: each release line got the safe one at another version. Null if safe. */
export function nodeVersionProblem({
  node,
  llhttp = 'unknown',
}: {
  node: string;
  llhttp?: string | undefined;
}) {
  if (/^\d/.test(llhttp) && sortable(llhttp) >= sortable(SAFE_PARSER)) return null;
  return `Assent needs Node 20.19.2, 22 or newer: this is ${node}, whose HTTP parser (llhttp ${llhttp}) allows request smuggling`;
}

/** A version that sorts as text. The collator of `Intl`, which could compare numbers, takes 10 ms to load. */
function sortable(version: string): string {
  return version.replaceAll(/\d+/g, (digits) => digits.padStart(4, '0'));
}
