/**
 * Sends traces, metrics and logs to a collector by OTLP. Where none is named, no part of it is built.
 * Nothing waits for the collector: what it does not take in its time is dropped and counted.
 */
import { Effect, Layer, Metric, Option, Redacted, Tracer } from "effect"
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

/** Exports under way at a time: with more of them a slow collector would fill the memory. */
const MOST_UNDER_WAY = 4
/** For the last export of each signal, when the gateway stops. */
const LAST_EXPORT = "1 second"

const signalOf = ({ url }: HttpClientRequest.HttpClientRequest): string =>
  /\/v1\/(traces|metrics|logs)$/.exec(url)?.[1] ?? "other"

/** Counts what is dropped, and says once that the collector does not take what it gets. */
const makeBounded = (timeoutMillis: number) =>
  Effect.map(HttpClient.HttpClient, (client) => {
    let underWay = 0
    let isFailing = false

    const dropped = (request: HttpClientRequest.HttpClientRequest) =>
      Metric.update(Metric.withAttributes(droppedTelemetry, { signal: signalOf(request) }), 1)

    const note = (request: HttpClientRequest.HttpClientRequest, trouble: string | null) => {
      const wasFailing = isFailing
      isFailing = trouble !== null
      if (trouble === null) {
        return wasFailing ? Effect.logInfo("telemetry is exported again") : Effect.void
      }
      return Effect.andThen(
        dropped(request),
        wasFailing
          ? Effect.void
          : Effect.annotateLogs(Effect.logWarning("telemetry cannot be exported", trouble), {
              signal: signalOf(request)
            })
      )
    }

    /** The answer without its body, which is read here so that it is under the time-out. */
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
        if (underWay >= MOST_UNDER_WAY) {
          return Effect.as(
            dropped(request),
            HttpClientResponse.fromWeb(request, new Response(null, { status: 204 }))
          )
        }
        underWay += 1
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
            note(request, status >= 200 && status < 300 ? null : `the collector answers ${status}`)
          ),
          Effect.tapError(() => note(request, "the collector does not answer")),
          Effect.ensuring(
            Effect.sync(() => {
              underWay -= 1
            })
          )
        )
      })
    )
  })

/** Chance stands for the trace's id, which is as random and not known before its span. */
const rootIsSampled = (sampler: Sampler, ratio: number): boolean => {
  if (sampler.endsWith("always_on")) return true
  return sampler.endsWith("always_off") ? false : Math.random() < ratio
}

/**
 * The tracer, with the sampler's say on spans that begin a trace here. A statement that belongs to no
 * request and no order is of no use to anybody, and a gateway makes some every second.
 */
const sampling = (
  tracer: Tracer.Tracer,
  { tracesSampler, tracesSamplerArg }: TelemetryConfig
): Tracer.Tracer => ({
  ...tracer,
  span: (options) => {
    const parent = Option.getOrUndefined(options.parent)
    const isOurs = parent?._tag === "Span"
    const follows = parent !== undefined && tracesSampler.startsWith("parentbased_")
    const sampled =
      options.sampled && (isOurs || follows || rootIsSampled(tracesSampler, tracesSamplerArg))
    const isLone = parent === undefined && options.name.startsWith("sql.")
    return tracer.span({ ...options, sampled: sampled && !isLone })
  }
})

const signals = ["traces", "metrics", "logs"] as const
type Signal = (typeof signals)[number]

/** Where a signal is sent; null for nowhere. */
const endpointOf = (config: TelemetryConfig, signal: Signal): string | null => {
  const [own, exporter] = (
    {
      traces: [config.otlpTracesEndpoint, config.tracesExporter],
      metrics: [config.otlpMetricsEndpoint, config.metricsExporter],
      logs: [config.otlpLogsEndpoint, config.logsExporter]
    } as const
  )[signal]
  if (config.otelDisabled || exporter === "none") return null
  if (own !== null || config.otlpEndpoint === null) return own
  const url = new URL(config.otlpEndpoint)
  url.pathname = `${url.pathname.replace(/\/$/, "")}/v1/${signal}`
  return url.href
}

/** The resource that all signals are of. Metrics of several gateways would be taken for one without its id. */
const resourceOf = (config: TelemetryConfig, instance: string) => {
  const { "service.name": named = "media-gateway", ...attributes } = pairsIn(
    config.resourceAttributes
  )
  return {
    serviceName: config.serviceName ?? named,
    attributes: { "service.instance.id": instance, ...attributes }
  }
}

const layerSignals = (config: TelemetryConfig, instance: string) => {
  const common = {
    headers: config.otlpHeaders === null ? undefined : pairsIn(Redacted.value(config.otlpHeaders)),
    compression: config.otlpCompression,
    shutdownTimeout: LAST_EXPORT,
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
          Effect.map(
            OtlpTracer.make({ ...common, url: traces, exportInterval: config.traceExportMillis }),
            (tracer) => sampling(tracer, config)
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

/** For everything of the gateway: its tracer, one more logger, and the metrics that `/metrics` tells too. */
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
            // The headers of an export may hold a key of the collector's.
            Layer.provide(Layer.succeed(FetchHttpClient.RequestInit, { redirect: "manual" }))
          )
        ),
        Layer.provide(
          config.otlpProtocol === "http/json"
            ? OtlpSerialization.layerJson
            : OtlpSerialization.layerProtobuf
        )
      )
