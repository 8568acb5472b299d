import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { remedyFor } from '../../src/flows/remedies.ts';
import { OVERLOADS } from '../../src/flows/unavailable.ts';

/** Rules as they are logged, and what their remedy has to speak of. */
const RULES: readonly (readonly [rule: string, remedy: RegExp])[] = [
  ['client_id is not registered', /assent client list/],
  ['the client is blocked', /assent client unblock ID/],
  ['the client or the user was blocked', /assent user show LOGIN/],
  ['the user is blocked', /assent user show LOGIN/],
  ['unknown or blocked client', /unblock.+secret add/],
  ['wrong or missing client_secret', /assent client secret add ID/],
  ['unknown or blocked client, or wrong client_secret', /unblock.+secret add/],
  ['missing or wrong METRICS_TOKEN', /Prometheus/],
  ['unknown or blocked resource, or wrong resource secret', /assent resource show ID/],
  ['redirect_uri differs from the registered one at character 23', /client update ID --redirect-uri/],
  ['redirect_uri is longer than 6000 characters', /state or scope/],
  ['redirect_uri appends the reserved parameter access_token', /another name for the parameter/],
  ['redirect_uri appends an undecodable parameter name', /another name for the parameter/],
  ['redirect_uri has appended characters other than visible ASCII, or a fragment', /plain ASCII/],
  [
    'redirect_uri differs from the authorization request; the code stays usable',
    /same redirect_uri at \/oauth\/token/,
  ],
  ['The parameter redirect_uri is missing.', /the rule says in which part/],
  ['The parameter scope was sent more than once.', /the rule says in which part/],
  ['The parameter scope is not text in percent-encoded UTF-8.', /the rule says in which part/],
  ['The parameter scope is missing or empty.', /the rule says in which part/],
  ['The parameter scope is longer than 6000 characters.', /state or scope/],
  ['The request is longer than 6000 bytes.', /state or scope/],
  ['The parameter response_type must be code.', /the rule says in which part/],
  ['code_challenge_method must be S256.', /the rule says in which part/],
  ['code_challenge_method was sent without code_challenge.', /the rule says in which part/],
  ['code_challenge is not the base64url form of a SHA-256.', /the rule says in which part/],
  ['code_verifier must have 43 to 128 letters, digits or -._~ characters.', /the rule says in which part/],
  ['no code_verifier after a code_challenge; the code stays usable', /or neither/],
  ['code_verifier after no code_challenge; the code stays usable', /or neither/],
  ['code_verifier does not match; the code stays usable', /PKCE verifier that belongs to the challenge/],
  ['The client secret was sent in the form and by HTTP Basic.', /the rule says in which part/],
  ['The parameters were sent in the body and in the URL at once.', /the rule says in which part/],
  ['The body must be application/x-www-form-urlencoded.', /the rule says in which part/],
  ['The Authorization header is not readable HTTP Basic.', /the rule says in which part/],
  ['The parameter grant_type must be authorization_code.', /the rule says in which part/],
  ['The form and HTTP Basic name two different applications.', /the rule says in which part/],
  ['Send the parameters in the body: a URL ends up in access logs.', /the rule says in which part/],
  ['Send the access token in the Authorization header, as Bearer.', /the rule says in which part/],
  ['scope: expected the name of a right before or at character 7', /grammar in docs\/scopes\.md/],
  [
    'scope: expected the name of a right (this is no OpenID provider: not openid) before or at character 7',
    /leave openid/,
  ],
  ['scope: the same right twice', /contradictions in docs\/scopes\.md/],
  ['scope: payment-shop is not in the catalogue', /CATALOGUE/],
  ['scope: the application may not ask payment-shop', /client update ID --right/],
  ['scope: the application may ask at most 30,1000, and payment-shop has 7,5000', /client update ID --most/],
  ['scope: the target of payment.to-pattern has U+0020 at character 2', /targets without spaces/],
  ['scope: the target of payment.to-account has letters of several scripts in one word', /mixed scripts/],
  ['scope: two targets that look alike', /contradictions in docs\/scopes\.md/],
  ['instance_name: U+0020 at character 1', /instance_name that can be seen/],
  ['The parameter instance_name is longer than 255 bytes.', /state or scope/],
  ['code expired', /CODE_LIFETIME_SECONDS/],
  ['the client was changed after the code was given', /client_updated/],
  ['code used again: the token issued from it is revoked', /stolen/],
  ['code used or revoked before', /trying again by itself/],
  ['code never issued to this client, or annulled', /assent audit --client ID/],
  ['code never issued: it has not the form of ours', /assent_ac_/],
  ['as many live authorizations of this user and application as MAX_INSTANCES allows', /MAX_INSTANCES/],
  ['more decisions of one user than anybody reads in that time', /passes in a minute/],
  ['asked for as a part of another page or by a script, not as a page', /open the browser/],
  ['There is nothing at this address.', /BASE_URL/],
  [
    'This is no OpenID provider: its metadata are at /.well-known/oauth-authorization-server.',
    /OAuth 2\.0 with/,
  ],
  ['The address can’t be read.', /BASE_URL/],
  ['This address takes GET, HEAD, not POST.', /another method/],
  ['unreadable HTTP: HPE_INVALID_METHOD', /the program that sent it/],
  ['unreadable HTTP: HPE_HEADER_OVERFLOW', /state or scope/],
  ["the body can't be read: FST_ERR_CTP_BODY_TOO_LARGE", /state or scope/],
  ["the body can't be read: FST_ERR_CTP_INVALID_MEDIA_TYPE", /the program that sent it/],
  ['a fault of ours', /level error/],
  ['The request has too many headers.', /the program that sent it/],
  ['The request names two hosts.', /the program that sent it/],
  ['The request asks for no path.', /the program that sent it/],
];

describe('what to do about a refusal', () => {
  it.each(RULES)('is said of its rule: %s', (rule, remedy) => {
    expect(remedyFor({ status: 400, rule })).toMatch(remedy);
  });

  it.each(OVERLOADS)('is to look at the load when there was too much: %o', (Overload) => {
    const { message } = new Overload(7_000);
    expect(remedyFor({ status: 503, rule: message })).toMatch(/assent_unavailable_total/);
  });

  it.each([
    "the database can't be reached (ECONNREFUSED)",
    'PostgreSQL has no connection left (53300)',
    'a lock was not free in time (55P03)',
  ])('is to look at the database when it was away: %s', (rule) => {
    expect(remedyFor({ status: 503, rule })).toMatch(/assent doctor/);
  });

  it('is tested for every rule of a request that the sources have', () => {
    const sources = readdirSync(new URL('../../src', import.meta.url), { recursive: true })
      .map(String)
      .filter((file) => /^(rules|http|flows)\/.*\.ts$/.test(file))
      .map((file) => readFileSync(new URL(`../../src/${file}`, import.meta.url), 'utf8'));
    const thrown = sources.flatMap((source) =>
      [...source.matchAll(/(?:new OAuthError|invalid(?:Request|Scope))\(([\s\S]*?)\);/g)].map(
        ([, given = '']) => given,
      ),
    );
    // The rule is the last text, with whatever is filled in between.
    const patterns = thrown
      .map((given) => [...given.matchAll(/'((?:[^'\\]|\\.)+)'|`([^`]+)`|"([^"]+)"/g)].at(-1))
      .map((match) => match?.[1] ?? match?.[2] ?? match?.[3] ?? '')
      .filter((rule) => rule.includes(' ') && !rule.startsWith('grants:')) // those are faults of ours
      .map(
        (rule) =>
          new RegExp(
            `^${rule
              .split(/\$\{[^}]*\}/)
              .map(escaped)
              .join('.*')}$`,
          ),
      );
    expect(patterns.length).toBeGreaterThan(20);
    const untested = patterns.filter((pattern) => !RULES.some(([rule]) => pattern.test(rule)));
    expect(untested.map(String)).toEqual([]);
  });
});

function escaped(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');
}
