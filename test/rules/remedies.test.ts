import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { RULE_IDS, type RuleId, remedyFor } from '../../src/rules/common/remedies.ts';

/** What each remedy has to speak of, where several rules have more than one between them. */
const REMEDIES: readonly (readonly [RuleId, remedy: RegExp])[] = [
  ['client_unregistered', /assent client list/],
  ['client_blocked', /assent client unblock ID/],
  ['client_or_user_blocked', /assent user show LOGIN/],
  ['user_blocked', /assent user show LOGIN/],
  ['client_unknown_or_blocked', /unblock.+secret add/],
  ['secret_wrong', /assent client secret add ID/],
  ['client_not_authenticated', /unblock.+secret add/],
  ['wrong_metrics_token', /Prometheus/],
  ['resource_not_authenticated', /assent resource show ID/],
  ['redirect_uri_unregistered', /client update ID --redirect-uri/],
  ['redirect_uri_too_long', /state or scope/],
  ['redirect_uri_appended', /another name for the parameter, or plain ASCII/],
  ['redirect_uri_differs', /same redirect_uri at \/oauth\/token/],
  ['missing_parameter', /the rule says in which part/],
  ['too_long', /state or scope/],
  ['verifier_missing', /or neither/],
  ['verifier_unneeded', /or neither/],
  ['verifier_mismatch', /PKCE verifier that belongs to the challenge/],
  ['unreadable_rights', /grammar in docs\/scopes\.md/],
  ['openid_scope', /leave openid/],
  ['openid_address', /OAuth 2\.0 with/],
  ['contradiction', /contradictions in docs\/scopes\.md/],
  ['right_not_offered', /CATALOGUE/],
  ['right_not_allowed', /client update ID --right/],
  ['above_ceiling', /client update ID --most/],
  ['unclear_target', /targets without spaces.+mixed scripts/],
  ['unclear_instance_name', /instance_name that can be seen/],
  ['code_expired', /CODE_LIFETIME_SECONDS/],
  ['client_changed', /client_updated/],
  ['code_replayed', /stolen/],
  ['code_used', /trying again by itself/],
  ['code_unknown', /assent audit --client ID/],
  ['code_malformed', /assent_ac_/],
  ['too_many_instances', /MAX_INSTANCES/],
  ['too_many_decisions', /passes in a minute/],
  ['embedded', /open the browser/],
  ['not_found', /BASE_URL/],
  ['unreadable_address', /BASE_URL/],
  ['wrong_method', /another method/],
  ['unreadable_http', /the program that sent it/],
  ['overload', /assent_unavailable_total/],
  ['database', /assent doctor/],
  ['server_error', /level error/],
];

describe('what to do about a refusal', () => {
  it.each(REMEDIES)('is said of its rule: %s', (ruleId, remedy) => {
    expect(remedyFor(ruleId)).toMatch(remedy);
  });

  it.each([null, 'of_a_later_build', 'toString'])('is general for a rule that is not known: %s', (ruleId) => {
    expect(remedyFor(ruleId)).toMatch(/^Another build of Assent kept this/);
  });

  it('is of a rule that a check names: that every such rule has one is for the compiler', () => {
    const sources = readdirSync(new URL('../../src', import.meta.url), { recursive: true })
      .map(String)
      .filter((file) => file.endsWith('.ts') && !/\/(remedies|error)\.ts$/.test(file))
      .map((file) => readFileSync(new URL(`../../src/${file}`, import.meta.url), 'utf8'));
    const unmade = RULE_IDS.filter((id) => !sources.some((source) => source.includes(`'${id}'`)));
    expect(unmade).toEqual([]);
  });

  it('is listed with its rule for operators', () => {
    const operating = readFileSync(new URL('../../docs/operating.md', import.meta.url), 'utf8');
    const [, list = ''] = /<!-- rule ids -->([\s\S]*?)<!-- end -->/.exec(operating) ?? [];
    expect([...list.matchAll(/`(\w+)`/g)].map(([, id]) => id)).toEqual(RULE_IDS);
  });
});
