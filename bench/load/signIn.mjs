import { cookieHeader, cookiesAfter, form, formTo, get, post, require } from './message.mjs';

/**
 * A password guess over the real form: the page first, then the post with the page's hidden fields and cookies. Each guess
 * is for another login from another network (`X-Forwarded-For`), so that neither is throttled at once. A refusal, a wait
 * and an overload response are all right.
 *
 * @type {import('./drive.mjs').Workload}
 */
export const signIn = {
  async ask(connection, { query, login, address }) {
    const from = { 'x-forwarded-for': address };
    const shown = await connection.send(get(`/oauth/authorize?${query}`, from));
    require(shown.status === 200 && shown.body.includes('data-page="sign-in"'), 'no sign-in page', shown);
    const cookie = cookieHeader(cookiesAfter(shown));
    const { action, fields } = formTo(shown, '/sign-in');
    const typed = { ...fields, login, password: 'a wrong guess' };
    const headers = { ...from, 'sec-fetch-site': 'same-origin', ...(cookie === '' ? {} : { cookie }) };
    const answer = await connection.send(post(action, form(typed), headers));
    const isSignedIn = Object.keys(cookiesAfter(answer)).some((name) => name.endsWith('session'));
    require([303, 503].includes(answer.status) && !isSignedIn, 'a wrong password was not refused', answer);
    return String(answer.status);
  },
};
