/**
 * Exports traces, metrics and logs to a collector by OTLP. Without a configured collector, no
 * exporter is created. Nothing waits for the collector: an export that it does not accept before
 * the time-out is dropped and counted.
 */
import { Effect, Layer, Metric, Option, Random, Redacted, Tracer } from "effect"
import { SecureRandom } from "effect/crypto"
import {
  FetchHttpClient,
  HttpClient,
  HttpClientError,
  type HttpClientRequest,
  HttpClientResponse
} from "effect/http"
import {
  OtlpExporter,
  OtlpLogger,
  OtlpMetrics,
  OtlpSerialization,
  OtlpTracer
} from "effect/observability"
import { droppedTelemetry } from "../services/metrics.ts"
import { pairsIn, type Sampler, type TelemetryConfig } from "./telemetryConfig.ts"

/** Limits concurrent exports, so that a slow collector does not fill the memory. */
const MAX_EXPORTS = 4
/** The time-out of the last export of each signal, when the gateway stops. */
const SHUTDOWN_TIMEOUT = "1 second"

const signalOf = ({ url }: HttpClientRequest.HttpClientRequest): string =>
  /\/v1\/(traces|metrics|logs)$/.exec(url)?.[1] ?? "other"

/**
 * An HTTP client that limits concurrent exports and their time. It counts dropped exports, and logs
 * the first failure of a series and the recovery.
 */
const makeBounded = (timeoutMillis: number) =>
  Effect.map(HttpClient.HttpClient, (client) => {
    let activeExports = 0
    let isFailing = false

    const countDropped = (request: HttpClientRequest.HttpClientRequest) =>
      Metric.update(Metric.withAttributes(droppedTelemetry, { signal: signalOf(request) }), 1)

    const noteResult = (request: HttpClientRequest.HttpClientRequest, fault: string | null) => {
      const wasFailing = isFailing
      isFailing = fault !== null
      if (fault === null) {
        return wasFailing ? Effect.logInfo("telemetry: exports succeed again") : Effect.void
      }
      return Effect.andThen(
        countDropped(request),
        wasFailing
          ? Effect.void
          : Effect.annotateLogs(Effect.logWarning("telemetry: export failed", fault), {
              signal: signalOf(request)
            })
      )
    }

    /**
     * A copy of the response without its body. The body was already read, so that the time-out
     * covers it.
     */
    const headOf = (response: HttpClientResponse.HttpClientResponse) => {
      const { "retry-after": retryAfter } = response.headers
      return HttpClientResponse.fromWeb(
        response.request,
        new Response(null, {
          status: response.status,
          headers: retryAfter === undefined ? {} : { "retry-after": retryAfter }
        })
      )
    }

    return HttpClient.transform(client, (answer, request) =>
      Effect.suspend(() => {
        if (activeExports >= MAX_EXPORTS) {
          return Effect.as(
            countDropped(request),
            HttpClientResponse.fromWeb(request, new Response(null, { status: 204 }))
          )
        }
        activeExports += 1
        return answer.pipe(
          Effect.tap((response) => Effect.ignore(response.arrayBuffer)),
          Effect.map(headOf),
          Effect.timeoutOrElse({
            duration: timeoutMillis,
            orElse: () =>
              new HttpClientError.HttpClientError({
                reason: new HttpClientError.TransportError({ request, description: "no answer" })
              })
          }),
          Effect.tap(({ status }) =>
            noteResult(
              request,
              status >= 200 && status < 300 ? null : `the collector answers ${status}`
            )
          ),
          Effect.tapError(() => noteResult(request, "the collector does not answer")),
          Effect.ensuring(
            Effect.sync(() => {
              activeExports -= 1
            })
          )
        )
      })
    )
  })

/**
 * Whether a root span is sampled. Sampling by ratio uses a random number instead of the trace ID:
 * the trace ID is as random, but does not exist before its span.
 */
const rootIsSampled = (
  random: typeof Random.Random.Service,
  sampler: Sampler,
  ratio: number
): boolean => {
  if (sampler.endsWith("always_on")) return true
  return sampler.endsWith("always_off") ? false : random.nextDoubleUnsafe() < ratio
}

/**
 * Wraps the tracer, so that the sampler decides about spans that begin a trace in this gateway. SQL
 * statements outside requests and orders are never sampled: background jobs execute statements
 * every second, and nobody needs their traces.
 */
const sampling = (
  tracer: Tracer.Tracer,
  random: typeof Random.Random.Service,
  { tracesSampler, tracesSamplerArg }: TelemetryConfig
): Tracer.Tracer => ({
  ...tracer,
  span: (options) => {
    const parent = Option.getOrUndefined(options.parent)
    const isOurs = parent?._tag === "Span"
    const followsParent = parent !== undefined && tracesSampler.startsWith("parentbased_")
    const isSampled =
      options.sampled &&
      (isOurs || followsParent || rootIsSampled(random, tracesSampler, tracesSamplerArg))
    const isLone = parent === undefined && options.name.startsWith("sql.")
    return tracer.span({ ...options, sampled: isSampled && !isLone })
  }
})

const signals = ["traces", "metrics", "logs"] as const
type Signal = (typeof signals)[number]

/** The URL to which a signal is exported; null for a signal that is not exported. */
const endpointOf = (config: TelemetryConfig, signal: Signal): string | null => {
  const [endpoint, exporter] = (
    {
      traces: [config.otlpTracesEndpoint, config.tracesExporter],
      metrics: [config.otlpMetricsEndpoint, config.metricsExporter],
      logs: [config.otlpLogsEndpoint, config.logsExporter]
    } as const
  )[signal]
  if (config.otelDisabled || exporter === "none") return null
  if (endpoint !== null || config.otlpEndpoint === null) return endpoint
  const url = new URL(config.otlpEndpoint)
  url.pathname = `${url.pathname.replace(/\/$/, "")}/v1/${signal}`
  return url.href
}

/** The resource of all signals. Its instance id separates the metrics of several gateways. */
const resourceOf = (config: TelemetryConfig, instance: string) => {
  const { "service.name": defaultName = "media-gateway", ...attributes } = pairsIn(
    config.resourceAttributes
  )
  return {
    serviceName: config.serviceName ?? defaultName,
    attributes: { "service.instance.id": instance, ...attributes }
  }
}

const layerSignals = (config: TelemetryConfig, instance: string) => {
  const common = {
    headers: config.otlpHeaders === null ? undefined : pairsIn(Redacted.value(config.otlpHeaders)),
    compression: config.otlpCompression,
    shutdownTimeout: SHUTDOWN_TIMEOUT,
    resource: resourceOf(config, instance)
  } as const
  const traces = endpointOf(config, "traces")
  const metrics = endpointOf(config, "metrics")
  const logs = endpointOf(config, "logs")
  return Layer.mergeAll(
    traces === null
      ? Layer.empty
      : Layer.effect(
          Tracer.Tracer,
          Effect.zipWith(
            OtlpTracer.make({ ...common, url: traces, exportInterval: config.traceExportMillis }),
            Random.Random,
            (tracer, random) => sampling(tracer, random, config)
          )
        ).pipe(Layer.provide(OtlpExporter.layerFlusher)),
    metrics === null
      ? Layer.empty
      : OtlpMetrics.layer({ ...common, url: metrics, exportInterval: config.metricExportMillis }),
    logs === null
      ? Layer.empty
      : OtlpLogger.layer({ ...common, url: logs, exportInterval: config.logExportMillis })
  )
}

/** Exports spans, log lines, and the same metrics as `/metrics`. */
export const layerTelemetry = (
  config: TelemetryConfig
): Layer.Layer<never, never, SecureRandom.SecureRandom> =>
  signals.every((signal) => endpointOf(config, signal) === null)
    ? Layer.empty
    : Layer.unwrap(
        Effect.map(
          Effect.flatMap(SecureRandom.SecureRandom, (random) => random.uuidV7()),
          (instance) => layerSignals(config, instance)
        )
      ).pipe(
        Layer.provide(
          Layer.effect(HttpClient.HttpClient, makeBounded(config.otlpTimeoutMillis)).pipe(
            Layer.provide(FetchHttpClient.layer),
            // Redirects are not followed: a redirect could send the headers of an export, which may
            // contain the collector's key, to another server.
            Layer.provide(Layer.succeed(FetchHttpClient.RequestInit, { redirect: "manual" }))
          )
        ),
        Layer.provide(
          config.otlpProtocol === "http/json"
            ? OtlpSerialization.layerJson
            : OtlpSerialization.layerProtobuf
        )
      )
