import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { RULE_IDS, type RuleId, remedyFor } from '../../src/rules/common/refusals.ts';

/** What an operator is led to, and the rules whose remedy leads there. */
const REMEDIES: readonly (readonly [remedy: RegExp, RuleId[]])[] = [
  [/assent client list/, ['client_unregistered']],
  [/assent client unblock ID/, ['client_blocked']],
  [/unblock.+secret add/, ['client_unknown_or_blocked', 'client_not_authenticated', 'secret_wrong']],
  [/assent user show LOGIN/, ['client_or_user_blocked', 'user_blocked']],
  [/assent resource show ID/, ['resource_not_authenticated']],
  [/client update ID --redirect-uri/, ['redirect_uri_unregistered']],
  [/client update ID --right/, ['right_not_allowed']],
  [/client update ID --most/, ['above_ceiling']],
  [/assent audit/, ['code_unknown', 'code_replayed', 'client_changed', 'too_many_tries']],
  [/assent doctor/, ['database']],
  [/state or scope/, ['too_long', 'too_many_parameters', 'redirect_uri_too_long', 'instance_name_too_long']],
  [/the rule names the part/, ['missing_parameter', 'wrong_grant_type', 'unreadable_credentials']],
  [/same redirect_uri at \/oauth\/token/, ['redirect_uri_differs']],
  [/another name for the parameter, or plain ASCII/, ['redirect_uri_appended']],
  [/PKCE verifier/, ['verifier_missing', 'verifier_unneeded', 'verifier_mismatch']],
  [/use OAuth 2\.0 with/, ['openid_scope', 'openid_address']],
  [/docs\/integrate\/scopes\.md/, ['unreadable_rights', 'contradiction', 'unclear_target']],
  [/CATALOGUE/, ['right_not_offered']],
  [/CODE_LIFETIME_SECONDS/, ['code_expired']],
  [/MAX_INSTANCES/, ['too_many_instances']],
  [/METRICS_TOKEN/, ['wrong_metrics_token']],
  [/BASE_URL/, ['not_found', 'unreadable_address']],
];

describe('the remedy of a refusal', () => {
  it.each(REMEDIES)('for %s: %j', (remedy, ruleIds) => {
    for (const ruleId of ruleIds) expect(remedyFor(ruleId)).toMatch(remedy);
  });

  it.each([null, 'of_a_later_build', 'toString'])('is general for an unknown rule: %s', (ruleId) => {
    expect(remedyFor(ruleId)).toMatch(/^Another build of Assent recorded this/);
  });

  it('exists for each rule (also checked by the compiler)', () => {
    const sources = readdirSync(new URL('../../src', import.meta.url), { recursive: true })
      .map(String)
      .filter((file) => file.endsWith('.ts') && !/(common\/refusals|deadEnds)\.ts$/.test(file))
      .map((file) => readFileSync(new URL(`../../src/${file}`, import.meta.url), 'utf8'));
    const unmade = RULE_IDS.filter((id) => !sources.some((source) => source.includes(`'${id}'`)));
    expect(unmade).toEqual([]);
  });
});
