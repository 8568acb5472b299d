import { describe, expect, it } from 'vitest';
import { Parameters } from '../../src/rules/request/parameters.ts';
import { parseTokenRequest } from '../../src/rules/request/tokenRequest.ts';
import { refusalOf } from './refusal.ts';

const FIELDS = {
  code: 'the code',
  client_id: 'app',
  grant_type: 'authorization_code',
  redirect_uri: 'https://app.example/cb?x=1',
};
const NONE = new Parameters('');
const refusalFor = (fields: Record<string, string>) =>
  refusalOf(() => parseTokenRequest(NONE, new Parameters(`${new URLSearchParams(fields)}`), undefined));

describe('contract 2.4: the fields of a token request', () => {
  it.each(['', 'refresh_token', 'Authorization_Code', 'authorization_code ', 'code'])(
    '7.2 refuses the grant_type %j',
    (grant_type) => {
      const { code, message } = refusalFor({ ...FIELDS, grant_type });
      expect([code, message]).toEqual(['invalid_request', expect.stringContaining('grant_type')]);
    },
  );

  it.each([...Object.keys(FIELDS), 'client_secret', 'code_verifier'])(
    '4: refuses a request with %s in the URL, before any other check',
    (name) => {
      const refusal = refusalOf(() => parseTokenRequest(new Parameters(`${name}=`), NONE, 'Basic ?'));
      expect(refusal).toMatchObject({ code: 'invalid_request', message: expect.stringContaining('a URL') });
    },
  );
});
