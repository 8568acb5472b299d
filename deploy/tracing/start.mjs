// OpenTelemetry's own instrumentation of Node's HTTP, Fastify and pg; tracing.mjs loads it before Assent.
import { register } from 'node:module';
import { FastifyOtelInstrumentation } from '@fastify/otel';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { registerInstrumentations } from '@opentelemetry/instrumentation';
import { HttpInstrumentation } from '@opentelemetry/instrumentation-http';
import { PgInstrumentation } from '@opentelemetry/instrumentation-pg';
import { defaultResource, detectResources, envDetector } from '@opentelemetry/resources';
import { BatchSpanProcessor } from '@opentelemetry/sdk-trace-base';
import { NodeTracerProvider } from '@opentelemetry/sdk-trace-node';
import { WithoutSecrets } from './withoutSecrets.mjs';

// Assent is an ES module and imports pg as one: without this hook its connections would be missed.
register('@opentelemetry/instrumentation/hook.mjs', import.meta.url);

const exporter = new WithoutSecrets(new OTLPTraceExporter());
const provider = new NodeTracerProvider({
  resource: defaultResource().merge(detectResources({ detectors: [envDetector] })),
  spanProcessors: [new BatchSpanProcessor(exporter)],
});
provider.register();

const NOT_TRACED = ['/health/live', '/health/ready', '/metrics'];
registerInstrumentations({
  tracerProvider: provider,
  instrumentations: [
    new HttpInstrumentation({ ignoreIncomingRequestHook: ({ url = '' }) => NOT_TRACED.includes(url) }),
    new FastifyOtelInstrumentation({ registerOnInitialization: true, recordExceptions: false }),
    new PgInstrumentation({ requireParentSpan: true, enhancedDatabaseReporting: false }),
  ],
});

// Sends the spans ended so far; Assent's own handler ends the process after the requests in progress.
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.on(signal, () => void provider.forceFlush());
