/**
 * The first version of Node's HTTP parser that ends a request where other readers do. Earlier ones accept line ends of
 * their own (CVE-2025-23167) or overlook a length that a space stands before (CVE-2024-27982).
 */
const SAFE_PARSER = '9.2.1';

/** What `process.versions` says. */
interface Versions {
  readonly node: string;
  readonly llhttp?: string | undefined;
}

/**
 * Says why this Node is no safe ground. The parser is judged, not Node: each line of Node got the safe one at another
 * version.
 *
 * @returns a sentence for the operator; null when all is well
 */
export function refuseNode({ node, llhttp = 'unknown' }: Versions): string | null {
  if (/^\d/.test(llhttp) && llhttp.localeCompare(SAFE_PARSER, 'en', { numeric: true }) >= 0) return null;
  return `Assent needs Node 20.19.2, 22 or newer: this is ${node}, whose HTTP parser (llhttp ${llhttp}) can take one request for two`;
}
