import { describe, expect, it } from 'vitest';
import { Agent } from '../support/agent.ts';
import { requestOf, tokenRequestOf } from '../support/flow.ts';
import { useServer } from '../support/server.ts';

const server = await useServer();

describe('/metrics', () => {
  it('counts requests by route, status and refusal, and tells nothing of what they carried', async () => {
    const client = await server.createClient();
    const agent = new Agent(server.baseUrl);
    await agent.get(
      `/oauth/authorize?${new URLSearchParams(requestOf(client, { state: 'not-to-be-told' }))}`,
    );
    await agent.post('/oauth/token', tokenRequestOf(client, 'not-to-be-told'));
    await agent.get('/not-to-be-told');
    const { status, body } = await agent.get('/metrics');
    expect(status).toBe(200);
    expect(body).toContain(
      'assent_requests_total{method="GET",route="/oauth/authorize",status="200",error=""} 1',
    );
    expect(body).toContain(
      'assent_requests_total{method="POST",route="/oauth/token",status="400",error="invalid_grant"} 1',
    );
    expect(body).toContain(
      'assent_requests_total{method="GET",route="none",status="404",error="not_found"} 1',
    );
    expect(body).toContain('assent_request_seconds_count{route="/oauth/token"} 1');
    expect(body).toMatch(/^assent_database_up 1$/m);
    for (const reason of ['database', 'overload'])
      expect(body).toContain(`assent_unavailable_total{reason="${reason}"} 0`);
    expect(body).not.toContain('not-to-be-told');
    expect(body).not.toContain(client.clientId);
  });
});
