/**
 * The OpenTelemetry environment variables that the gateway reads, as their specification defines
 * them.
 */
import { Config, Redacted, Schema } from "effect"

const isHttp = (text: string): boolean => /^https?:$/.test(URL.parse(text)?.protocol ?? "")

const Endpoint = Schema.String.check(
  Schema.makeFilter((text) => text === "" || isHttp(text), {
    expected: "an address such as http://127.0.0.1:4318"
  })
)

/**
 * Parses `name=value` pairs. The result is null where a part has another form or a broken
 * percent-encoding.
 */
const pairsOf = (text: string): Readonly<Record<string, string>> | null => {
  const pairs: Record<string, string> = {}
  for (const part of text.split(",")) {
    if (part.trim() === "") continue
    const [, name, value] = /^\s*([^=\s]+)\s*=(.*)$/s.exec(part) ?? []
    if (name === undefined || value === undefined) return null
    try {
      pairs[decodeURIComponent(name)] = decodeURIComponent(value.trim())
    } catch {
      return null
    }
  }
  return pairs
}

const Pairs = Schema.String.check(
  Schema.makeFilter((text) => pairsOf(text) !== null, {
    expected: "name=value pairs with commas between them, percent-encoded"
  })
)

const samplers = [
  "always_on",
  "always_off",
  "traceidratio",
  "parentbased_always_on",
  "parentbased_always_off",
  "parentbased_traceidratio"
] as const
export type Sampler = (typeof samplers)[number]

/** An empty variable counts as absent, as it does in shells and compose files. */
const optional = <A extends string>(name: string, schema: Schema.Codec<A, string>) =>
  Config.schema(Schema.Union([Schema.Literal(""), schema]), name).pipe(Config.withDefault(""))

const orNull = (text: string): string | null => (text === "" ? null : text)

const endpoint = (name: string) => optional(name, Endpoint).pipe(Config.map(orNull))

const literal = <const A extends string>(name: string, literals: ReadonlyArray<A>, absent: A) =>
  Config.schema(Schema.Literals(["", ...literals]), name).pipe(
    Config.withDefault(""),
    Config.map((text): A => literals.find((value) => value === text) ?? absent)
  )

const Millis = Schema.NumberFromString.check(
  Schema.isInt(),
  Schema.isGreaterThan(0, { expected: "milliseconds, more than 0" })
)
const Ratio = Schema.NumberFromString.check(Schema.isBetween({ minimum: 0, maximum: 1 }))

const number = (name: string, schema: Schema.Codec<number, string>, absent: number) =>
  Config.schema(Schema.Union([Schema.Literal(""), schema]), name).pipe(
    Config.withDefault(""),
    Config.map((value) => (value === "" ? absent : value))
  )

const exporters = ["otlp", "none"] as const

export interface TelemetryConfig {
  /**
   * Collector that gets traces, metrics and logs by OTLP over HTTP, such as `http://127.0.0.1:4318`;
   * absent: nothing is collected or sent.
   */
  readonly otlpEndpoint: string | null
  /** Full URL for traces, where it differs from the collector's. */
  readonly otlpTracesEndpoint: string | null
  /** Full URL for metrics, where it differs from the collector's. */
  readonly otlpMetricsEndpoint: string | null
  /** Full URL for logs, where it differs from the collector's. */
  readonly otlpLogsEndpoint: string | null
  /** Headers of every export, as `name=value,name=value`. */
  readonly otlpHeaders: Redacted.Redacted | null
  /** `http/protobuf` or `http/json`. */
  readonly otlpProtocol: "http/protobuf" | "http/json"
  /** `gzip` or `none`. */
  readonly otlpCompression: "gzip" | "none"
  /** Time-out of an export, in milliseconds. */
  readonly otlpTimeoutMillis: number
  /** Name of the service in all exported data; absent: `media-gateway`. */
  readonly serviceName: string | null
  /** Further attributes of this process, as `name=value,name=value`. */
  readonly resourceAttributes: string
  /** Milliseconds between two exports of the metrics. */
  readonly metricExportMillis: number
  /** Milliseconds between two exports of traces. */
  readonly traceExportMillis: number
  /** Milliseconds between two exports of logs. */
  readonly logExportMillis: number
  /** `none`: no traces are recorded or exported. */
  readonly tracesExporter: "otlp" | "none"
  /** `none`: no metrics are exported. */
  readonly metricsExporter: "otlp" | "none"
  /** `none`: no logs are exported. */
  readonly logsExporter: "otlp" | "none"
  /**
   * Sampler of traces: `always_on`, `always_off` or `traceidratio`, or `parentbased_...` with one
   * of them, which decides only about requests without a `traceparent`.
   */
  readonly tracesSampler: Sampler
  /** Share of the traces that `traceidratio` exports, from 0 to 1. */
  readonly tracesSamplerArg: number
  /** `true`: nothing is collected or sent. */
  readonly otelDisabled: boolean
}

export const telemetryConfig: Config.Config<TelemetryConfig> = Config.all({
  otlpEndpoint: endpoint("OTEL_EXPORTER_OTLP_ENDPOINT"),
  otlpTracesEndpoint: endpoint("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"),
  otlpMetricsEndpoint: endpoint("OTEL_EXPORTER_OTLP_METRICS_ENDPOINT"),
  otlpLogsEndpoint: endpoint("OTEL_EXPORTER_OTLP_LOGS_ENDPOINT"),
  otlpHeaders: optional("OTEL_EXPORTER_OTLP_HEADERS", Pairs).pipe(
    Config.map((text) => (text === "" ? null : Redacted.make(text)))
  ),
  otlpProtocol: literal(
    "OTEL_EXPORTER_OTLP_PROTOCOL",
    ["http/protobuf", "http/json"],
    "http/protobuf"
  ),
  otlpCompression: literal("OTEL_EXPORTER_OTLP_COMPRESSION", ["gzip", "none"], "none"),
  otlpTimeoutMillis: number("OTEL_EXPORTER_OTLP_TIMEOUT", Millis, 10_000),
  serviceName: optional("OTEL_SERVICE_NAME", Schema.String).pipe(Config.map(orNull)),
  resourceAttributes: optional("OTEL_RESOURCE_ATTRIBUTES", Pairs),
  metricExportMillis: number("OTEL_METRIC_EXPORT_INTERVAL", Millis, 60_000),
  traceExportMillis: number("OTEL_BSP_SCHEDULE_DELAY", Millis, 5000),
  logExportMillis: number("OTEL_BLRP_SCHEDULE_DELAY", Millis, 1000),
  tracesExporter: literal("OTEL_TRACES_EXPORTER", exporters, "otlp"),
  metricsExporter: literal("OTEL_METRICS_EXPORTER", exporters, "otlp"),
  logsExporter: literal("OTEL_LOGS_EXPORTER", exporters, "otlp"),
  tracesSampler: literal("OTEL_TRACES_SAMPLER", samplers, "parentbased_always_on"),
  tracesSamplerArg: number("OTEL_TRACES_SAMPLER_ARG", Ratio, 1),
  otelDisabled: Config.Boolean("OTEL_SDK_DISABLED").pipe(Config.withDefault(false))
})

/** Parses a list of `name=value` pairs whose form the configuration has already checked. */
export const pairsIn = (text: string): Readonly<Record<string, string>> => pairsOf(text) ?? {}
